// Publishing: a publication or a document is looked at while it is written, and sent. Text is only ever set as text.

import { afterPause, ago, ask, byId, count, drawing, element, sayProblem, tabs } from "./frame.js";
import { detected } from "./formats.js";

const STRUCTURED = "application/cloudevents+json";
const BATCH = "application/cloudevents-batch+json";
const LINES = "application/x-ndjson";
const LARGEST = 16 << 20;

const form = byId("publish");
const fields = form.elements;
const letter = byId("letter");
const mends = letter ? Number(letter.dataset.position) : null;
const extra = letter ? JSON.parse(letter.dataset.attributes) : {};

let panel = "publication";
let held = null; // a file that is no text
let fileName = "";
let last = null; // what was looked at last: { key, found } or { key, problem }

// What is to be sent

const freshId = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");

const concepts = new Map(); // by their labels, of what was offered

const quoted = (text) => JSON.stringify(text).replace(/\u007f/g, "\\u007F");
const iri = (text) => `<${encodeURI(decodeURI(text)).replace(/[<>"{}|^`\\]/g, encodeURIComponent)}>`;

function meant(word) {
  const known = concepts.get(word.toLowerCase());
  return known ? `<${known.replace(/^<|>$/g, "")}>` : quoted(word);
}

function turtle() {
  const [type, subtype, said, link] = ["type", "subtype", "content", "link"].map((name) => fields[name].value.trim());
  if (!type && !subtype && !said && !link) return "";
  const facts = ["a tw:Publication"];
  if (type) facts.push(`tw:publicationType ${meant(type)}`);
  if (subtype) facts.push(`tw:publicationSubType ${meant(subtype)}`);
  if (said) facts.push(`tw:content ${quoted(said)}`);
  if (link) facts.push(`tw:link ${/^[a-z][\w+.-]*:/i.test(link) ? iri(link) : quoted(link)}`);
  return `@prefix tw: <urn:triplewire:> .\n\n_:H ${facts.join(" ;\n    ")} .\n`;
}

const format = () => fields.format.value || detected(held?.name ?? fileName, held ? "" : fields.data.value);

function headers(attributes) {
  const told = { specversion: "1.0", ...attributes, id: attributes.id || freshId() };
  const coded = (text) => encodeURIComponent(text);
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value).map(([name, value]) => [`ce-${name}`, coded(value)]));
}

// The request, or null while there is nothing; "key" tells whether it is the same as before.
function request() {
  if (panel === "publication") {
    const body = turtle();
    const attributes = { source: fields.source.defaultValue, type: "triplewire.publication" };
    return body && { type: "text/turtle", body, headers: headers(attributes), key: body };
  }
  const body = held ?? fields.data.value;
  const type = format();
  if (!held && !body.trim()) return null;
  if ([STRUCTURED, BATCH].includes(type)) return { type, body, headers: {}, key: type + body };
  if (type === LINES) {
    const lines = body.split("\n").filter((line) => line.trim());
    return { type: BATCH, body: `[${lines.join(",\n")}]`, headers: {}, key: type + body };
  }
  const attributes = { ...extra, id: fields.id.value.trim(), source: fields.source.value.trim(), type: fields.kind.value.trim(), home: fields.home.value.trim() };
  return { type, body, headers: headers(attributes), key: JSON.stringify([type, attributes, held ? held.name : body]) };
}

function post(sent, isDry, signal) {
  const query = new URLSearchParams({ ...(isDry && { "dry-run": "true" }), ...(mends !== null && { mends }) });
  const { type, body } = sent;
  return ask(`/v1/events?${query}`, { method: "POST", type, body, headers: sent.headers, signal });
}

// Looking at it

let looking;

async function look() {
  looking?.abort();
  byId("made").textContent = turtle() || "(nothing yet)";
  showFormat();
  const sent = request();
  if (!sent) {
    last = null;
    showFound({ items: [], count: 0, trips: null });
    showRefusal(null);
    return;
  }
  looking = new AbortController();
  try {
    last = { key: sent.key, found: await post(sent, true, looking.signal) };
    showFound(last.found);
    showRefusal(last.found.items.map((item) => item.refused).find((refused) => refused) ?? null);
  } catch (problem) {
    if (problem.name === "AbortError") return;
    last = { key: sent.key, problem };
    showFound({ items: [], count: 0, trips: null });
    showRefusal({ ...problem, reason: problem.detail });
  }
}

function showFormat() {
  const option = [...fields.format.options].find((one) => one.value === format());
  const empty = !held && !fields.data.value.trim();
  fields.format.options[0].textContent = empty || fields.format.value ? "As detected" : `As detected: ${option?.textContent}`;
}

// The places that are told are places in the data; of a CloudEvent, that is not the text in the box.
function showRefusal(refused) {
  const box = byId("error");
  box.hidden = !refused;
  const field = panel === "document" ? fields.data : fields.content;
  field.setAttribute("aria-invalid", String(Boolean(refused)));
  if (!refused) return;
  box.querySelector("pre").textContent = refused.excerpt ?? "";
  box.querySelector("p").textContent = refused.reason;
  const isThere = panel === "document" && refused.line && !held && (refused.status || ![STRUCTURED, BATCH, LINES].includes(format()));
  byId("to-place").hidden = !isThere;
  byId("to-place").onclick = () => goTo(refused.line, refused.column);
}

function goTo(line, column) {
  const before = fields.data.value.split("\n").slice(0, line - 1);
  const start = before.reduce((length, one) => length + one.length + 1, 0) + column - 1;
  fields.data.focus();
  fields.data.setSelectionRange(start, start + 1);
}

function summary({ items, count: all, trips }) {
  if (!items.length) return "Nothing yet. Write something, and it is drawn here before it is sent.";
  const refused = items.filter((item) => item.refused).length;
  const events = items.reduce((sum, item) => sum + item.count, 0);
  const parts = [];
  if (refused === items.length) parts.push(all === 1 ? "It cannot be read, and would be refused." : "None of them can be read.");
  else {
    parts.push(events === 1 ? "One event." : `${count(events, "event")}.`);
    if (refused) parts.push(`${refused} of ${all} would be refused.`);
  }
  if (items.length < all) parts.push(`The first ${items.length} of ${all} were looked at.`);
  if (events && trips && !trips.matched.length && trips.compared.subscriptions) {
    parts.push(`It would trip none of your ${count(trips.compared.subscriptions, "subscription")}.`);
  }
  return parts.join(" ");
}

function showFound(found) {
  byId("summary").textContent = summary(found);
  const known = found.items.filter((item) => item.position !== null);
  const warnings = [
    ...known.map((item) => `the event ${item.id} of ${item.source} is in the log already, at position ${item.position}: publishing it again changes nothing`),
    ...found.items.flatMap((item) => item.warnings),
  ];
  byId("warnings").hidden = !warnings.length;
  byId("warnings").replaceChildren(...[...new Set(warnings)].slice(0, 6).map((text) => element("li", {}, text)));
  const drawn = found.items.flatMap((item) => item.events.map((event) => picture(event))).slice(0, 3);
  const left = found.items.reduce((sum, item) => sum + item.count, 0) - drawn.length;
  const more = left > 0 ? [element("p", { class: "quiet-text" }, `And ${count(left, "event")} more.`)] : [];
  byId("preview").replaceChildren(...(found.trips?.matched.length ? [tripped(found.trips)] : []), ...drawn, ...more);
}

function tripped({ matched, compared }) {
  const names = matched.slice(0, 10).map((one) => element("span", { class: "badge good" }, one.subscription));
  const more = matched.length > 10 ? [` and ${matched.length - 10} more`] : [];
  const asked = compared.complete ? "" : ` (as far as there was time: ${compared.subscriptions} were asked)`;
  return element("p", { class: "trips concepts" }, `It would trip${asked}`, ...names, ...more);
}

function picture(event) {
  const home = event.home ? `home vertex ${event.home}` : "no home vertex";
  const article = element("article", {}, element("h3", {}, `${count(event.triples, "triple")}, ${home}`));
  if (event.svg !== null) {
    article.append(element("div", { class: "picture", tabindex: "0", role: "group", "aria-label": "The graph" }, drawing(event.svg)));
  }
  if (event.concepts.length) {
    const named = event.concepts.slice(0, 20).map((one) => element("span", { class: "badge", title: one.concept }, one.label));
    article.append(element("p", { class: "concepts" }, "About", ...named));
  }
  for (const { word, under } of event.proposes) {
    article.append(element("p", { class: "quiet-text" }, `“${word}” is new: it will be proposed as a concept below ${under}.`));
  }
  if (event.turtle !== null) {
    const text = element("pre", { tabindex: "0", "aria-label": "The graph as Turtle" }, event.turtle);
    article.append(element("details", {}, element("summary", {}, "As Turtle"), text));
  }
  return article;
}

// Publishing it

let stream;
const cards = new Map(); // by position
const early = new Map(); // notifications that come before we know the position

// Listen before anything is sent, so that nothing is missed.
function listen() {
  if (stream || byId("publishing").dataset.streams !== "true") return Promise.resolve();
  stream = new EventSource("/v1/notifications/stream");
  stream.onmessage = (message) => {
    const found = JSON.parse(message.data);
    if (!cards.has(found.position)) early.set(found.position, [...(early.get(found.position) ?? []), found]);
    else told(found);
  };
  return new Promise((resolve) => {
    stream.onopen = resolve;
    stream.onerror = resolve;
  });
}

function told(found) {
  const card = cards.get(found.position);
  card.querySelector(".waiting")?.remove();
  const why = element("a", { href: `/notifications/${found.id}` }, "Why?");
  card.append(element("p", { class: "told" }, element("strong", {}, found.subscription), " was told of it. ", why));
}

function publishedCard({ id, position }) {
  const now = new Date().toISOString();
  const line = element("div", { class: "line" }, element("strong", {}, `Position ${position}`), element("span", {}, id), element("time", { datetime: now }));
  const card = element("li", { class: "card new" }, line, element("p", { class: "waiting quiet-text" }, "Waiting to be matched…"));
  ago(line.lastElementChild);
  cards.set(position, card);
  byId("published").prepend(card);
  for (const found of early.get(position) ?? []) told(found);
  early.clear();
}

async function settle() {
  const open = [...cards].filter(([, card]) => card.querySelector(".waiting"));
  if (!open.length) return;
  const { pipeline } = await ask("/healthz").catch(() => ({ pipeline: 0 }));
  for (const [position, card] of open) {
    const waiting = card.querySelector(".waiting");
    if (position > pipeline || !waiting) continue;
    if (waiting.dataset.done) waiting.remove(), card.append(element("p", { class: "quiet-text" }, "Matched. None of your subscriptions was tripped."));
    else waiting.dataset.done = "true"; // what was told may be on its way
  }
}

async function onSubmit(event) {
  event.preventDefault();
  const button = byId("send");
  const output = form.querySelector("output");
  output.textContent = "";
  button.disabled = true;
  try {
    if (last?.key !== request()?.key || last?.problem) await look();
    const sent = request();
    if (!sent) {
      output.textContent = panel === "publication" ? "Say something first: a type, a content or a link." : "Paste a document, or choose a file.";
      return;
    }
    if (!byId("error").hidden) return byId("error").scrollIntoView({ block: "nearest" });
    await listen();
    const receipts = [await post(sent, false)].flat();
    byId("published-box").hidden = false;
    receipts.slice(0, 50).forEach(publishedCard);
    const at = receipts.length === 1 ? `at position ${receipts[0].position}` : `as ${receipts.length} events, from position ${receipts[0]?.position}`;
    output.textContent = mends === null ? `Published ${at}.` : `Published ${at}. The dead letter ${mends} is marked as republished.`;
    if (mends !== null) output.append(" ", element("a", { href: "/dead-letters" }, "Back to the dead letters"));
    fields.id.value = "";
    look();
  } catch (problem) {
    showRefusal({ ...problem, reason: problem.detail });
  } finally {
    button.disabled = false;
  }
}

// Files

async function take(file) {
  if (!file) return;
  if (file.size > LARGEST) return sayProblem({ detail: `${file.name} is larger than ${LARGEST / (1 << 20)} MiB.` });
  const text = await file.text();
  fileName = file.name;
  fields.format.value = "";
  hold(text.startsWith("%PDF-") || text.includes("\ufffd") ? file : null);
  fields.data.value = held ? "" : text;
  look();
}

function hold(file) {
  held = file;
  const notice = byId("held");
  notice.hidden = !file;
  fields.data.hidden = Boolean(file);
  if (file) notice.querySelector("span").textContent = `${file.name}, ${count(file.size, "byte")}.`;
}

byId("held").querySelector("button").addEventListener("click", () => {
  hold(null);
  fileName = byId("file").value = "";
  fields.data.focus();
  look();
});
byId("file").addEventListener("change", (event) => take(event.target.files[0]));
fields.data.addEventListener("dragover", (event) => {
  event.preventDefault();
  fields.data.classList.add("over");
});
for (const over of ["dragleave", "drop"]) fields.data.addEventListener(over, () => fields.data.classList.remove("over"));
fields.data.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return; // a text, which the browser puts in
  event.preventDefault();
  take(event.dataTransfer.files[0]);
});

// Words of the ontology

async function offer(field, list) {
  const word = field.value.trim();
  if (!word || concepts.has(word.toLowerCase())) return;
  const { items } = await ask(`/v1/concepts?${new URLSearchParams({ search: word, limit: 12 })}`).catch(() => ({ items: [] }));
  for (const { label, concept } of items) {
    const known = concepts.get(label.toLowerCase());
    concepts.set(label.toLowerCase(), known === undefined || known === concept ? concept : null); // two of one name: the word
  }
  list.replaceChildren(...items.map(({ label }) => element("option", { value: label })));
  if (concepts.has(word.toLowerCase())) look();
}

for (const [name, list] of [["type", "types"], ["subtype", "subtypes"]]) {
  fields[name].addEventListener("input", afterPause(() => offer(fields[name], byId(list)), 200));
}

byId("as-document").addEventListener("click", () => {
  fields.data.value = turtle();
  fileName = "";
  hold(null);
  byId("tab-document").click();
  fields.data.focus();
});

if (letter) {
  fields.source.value = extra.source ?? fields.source.value;
  fields.kind.value = extra.type ?? fields.kind.value;
  fields.home.value = extra.home ?? "";
  fields.id.value = extra.id ? `${extra.id}-mended-${freshId().slice(0, 4)}` : "";
  const kind = letter.dataset.format.split(";")[0].trim().toLowerCase();
  fields.format.value = [...fields.format.options].some((option) => option.value === kind) ? kind : "";
}
const lookSoon = afterPause(look, 350);
form.addEventListener("input", (event) => event.target.type !== "file" && lookSoon());
form.addEventListener("submit", onSubmit);
document.addEventListener("progress", settle);
tabs(form.querySelector('[role="tablist"]'), (id) => {
  panel = id;
  look();
});
