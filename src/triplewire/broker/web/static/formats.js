// Which format a document is in, by its name and by how it begins.

const SUFFIXES = {
  ttl: "text/turtle",
  nt: "application/n-triples",
  nq: "application/n-quads",
  trig: "application/trig",
  jsonld: "application/ld+json",
  csv: "text/csv",
  rss: "application/rss+xml",
  atom: "application/atom+xml",
  pdf: "application/pdf",
  ndjson: "application/x-ndjson",
  jsonl: "application/x-ndjson",
};

// Names such as .json, .xml and .rdf say too little: the content decides.
export function detected(name, text) {
  const suffix = /\.([a-z]+)$/i.exec(name ?? "")?.[1].toLowerCase();
  return SUFFIXES[suffix] ?? byContent(text.trimStart());
}

function byContent(text) {
  if (text.startsWith("%PDF-")) return "application/pdf";
  if (/^[[{]/.test(text)) return ofJson(text);
  const line = text.split("\n").find((one) => one.trim() && !one.trim().startsWith("#")) ?? "";
  const term = String.raw`(?:<[^<>\s]*>|_:\S+)`;
  if (new RegExp(`^\\s*${term}\\s+<[^<>\\s]*>\\s+.*\\.\\s*$`).test(line) && !/@prefix|[;,]\s*$/i.test(text)) {
    const isQuad = new RegExp(`^\\s*${term}\\s+<[^<>\\s]*>\\s+(?:${term}|".*"\\S*)\\s+${term}\\s*\\.\\s*$`).test(line);
    return isQuad ? "application/n-quads" : "application/n-triples";
  }
  if (/^<[?!a-z]/i.test(text) && !/^<[a-z][\w+.-]*:\/?[^\s>]*>/i.test(text)) return ofMarkup(text);
  if (/(^|\s)(GRAPH\s+)?(<[^>]*>|[\w-]*:[\w-]*)?\s*\{/i.test(text)) return "application/trig";
  if (/@prefix|@base|^\s*prefix\s|_:|\sa\s/im.test(text) || /^[\w-]*:\S+\s/.test(line)) return "text/turtle";
  return line.includes(",") ? "text/csv" : "text/turtle";
}

function ofJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    const lines = text.split("\n").filter((line) => line.trim());
    if (lines.length > 1 && lines.every((line) => /^\s*\{.*"specversion".*\}\s*$/.test(line))) return "application/x-ndjson";
    if (/"specversion"/.test(text)) return text.startsWith("[") ? "application/cloudevents-batch+json" : "application/cloudevents+json";
    return /"@(context|graph|id|type)"/.test(text) ? "application/ld+json" : "application/json";
  }
  const all = Array.isArray(value) ? value : [value];
  const has = (...names) => all.length > 0 && all.every((one) => one && typeof one === "object" && names.some((name) => name in one));
  if (has("specversion")) return Array.isArray(value) ? "application/cloudevents-batch+json" : "application/cloudevents+json";
  return has("@context", "@graph", "@id", "@type") ? "application/ld+json" : "application/json";
}

function ofMarkup(text) {
  const root = /<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)/.exec(text.replace(/<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^[>]*(\[.*?\])?\s*>/gs, ""));
  if (root?.[2] === "rss") return "application/rss+xml";
  if (root?.[2] === "feed") return "application/atom+xml";
  if (root?.[2] !== "RDF") return text.includes("22-rdf-syntax-ns#") ? "application/rdf+xml" : "application/xml";
  return text.includes("http://purl.org/rss/1.0/") ? "application/rss+xml" : "application/rdf+xml";
}
