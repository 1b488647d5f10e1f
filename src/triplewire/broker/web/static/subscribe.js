// The page Subscribe: puts a record together from its parts, tries it while it is written, and saves it.

import { Problem, afterPause, ask, byId, element, tabs } from "./frame.js";
import { Editor } from "./editor.js";
import { Profile } from "./profile.js";
import { Terms, feedAddress } from "./terms.js";
import { FURTHER, Trial } from "./trial.js";

const SAID = ["language", "pattern", "prefixes", "mapping", "threshold", "own"];
const PAUSE = 400;

const form = byId("subscribe");
const fields = form.elements;
const address = (id) => `/v1/subscriptions/${encodeURIComponent(id)}`;

let known = null; // what is being edited, as it was read, and its tag
let tag = null;
let trying = null;
let tried = "";

const trial = new Trial(() => tryOut(FURTHER));
const editor = new Editor(byId("pattern"), byId("marks"), byId("pattern-problem"));
const terms = new Terms(form);
const tryLater = afterPause(() => tryOut(), PAUSE);
const profile = new Profile(tryLater);

const isWritten = () => !byId("written").hidden;

// The record

function readPrefixes(text) {
  const lines = text.matchAll(/^\s*(?:@?prefix\s+)?([^\s:]*):\s*<?([^\s<>]+)>?[\s.]*$/gim);
  return Object.fromEntries(Array.from(lines, ([, prefix, iri]) => [prefix, iri]));
}

// Those prefixes that a pattern uses; one is used in `ex:name`, and not in `flex:name`.
function usedPrefixes(pattern) {
  const used = new Set(Array.from(pattern.matchAll(/(?<![\w.-])([A-Za-z][\w-]*)?:/g), ([, prefix]) => prefix ?? ""));
  return Object.fromEntries(Object.entries(readPrefixes(fields.prefixes.value)).filter(([prefix]) => used.has(prefix)));
}

// What is said, without name, terms and delivery; null if nothing is.
function said() {
  if (!isWritten()) return profile.record();
  if (!fields.pattern.value.trim()) return null;
  const language = fields.language.value;
  const record = { language, pattern: fields.pattern.value };
  const prefixes = usedPrefixes(record.pattern);
  if (Object.keys(prefixes).length) record.prefixes = prefixes;
  if (["ops", "gtopss"].includes(language) && fields.mapping.value) record.mapping = fields.mapping.value;
  if (known?.threshold !== undefined && known.language === language) record.threshold = known.threshold;
  if (known?.own && language === "interest") record.own = known.own;
  return record;
}

// Trying it

async function tryOut(events) {
  const record = said();
  const lacking = isWritten() ? null : profile.lacking();
  profile.complain(lacking);
  if (!record || lacking) return nothing();
  const body = known ? { ...record, id: known.id } : record;
  if (JSON.stringify(body) === tried && !events) return;
  trying?.abort();
  trying = new AbortController();
  tried = JSON.stringify(body);
  trial.wait();
  try {
    const url = `/v1/subscriptions?dry-run=true${events ? `&events=${events}` : ""}`;
    show(await ask(url, { method: "POST", body, signal: trying.signal }));
  } catch (problem) {
    if (problem.name === "AbortError") return;
    tried = "";
    if (problem.status === 429) return tryLater();
    if (placed(problem)) trial.outdate();
    else trial.clear(problem.detail);
  }
}

function nothing() {
  trying?.abort();
  tried = "";
  editor.show(null);
  trial.clear();
  profile.scored(null);
}

function show(answer) {
  editor.show(null);
  profile.complain(null);
  byId("prefixes-problem").hidden = true;
  trial.show(answer);
  profile.scored(answer.scores && answer);
}

// Show what is wrong where it is; tells whether it is anywhere.
function placed(problem) {
  if (terms.problem(problem)) return true;
  if (!problem.language) return false;
  if (isWritten()) editor.show(problem);
  else profile.complain(problem.detail.replace(/^interest: (line .*?: )?/, ""));
  return true;
}

function refuse(text, isChoice = false) {
  byId("refused").querySelector("p").textContent = text;
  byId("refused").querySelector(".actions").hidden = !isChoice;
  byId("refused").hidden = false;
}

// Saving it

async function save() {
  if (byId("save").disabled) return; // it is under way
  const record = said();
  const lacking = !record ? "Say first what you want to hear of." : !isWritten() && profile.lacking();
  byId("refused").hidden = byId("saved").hidden = true;
  terms.problem(null);
  if (lacking) return refuse(lacking);
  byId("save").disabled = true;
  try {
    const delivery = terms.delivery(known?.delivery);
    const members = { ...record, ...terms.members() };
    await (known ? change(members, delivery) : create(members, delivery));
    await tell(delivery?.secret);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (problem.status === 412) refuse("It was changed by somebody else, or on another page, since you opened it.", true);
    else if (!placed(problem)) refuse(problem.detail);
  } finally {
    byId("save").disabled = false;
  }
}

async function create(members, delivery) {
  const body = delivery ? { ...members, delivery } : members;
  const made = await ask("/v1/subscriptions", { method: "POST", body });
  history.replaceState(null, "", `/subscribe?edit=${encodeURIComponent(made.id)}`);
  await read(made.id);
}

async function change(members, delivery) {
  const managed = [...SAID, ...terms.managed()];
  const before = Object.fromEntries(managed.filter((name) => name in known).map((name) => [name, known[name]]));
  const { id, ...after } = members;
  const body = patch(before, after);
  if (delivery || known.delivery) body.delivery = delivery;
  const headers = tag ? { "If-Match": tag } : {};
  await ask(address(known.id), { method: "PATCH", body, headers, type: "application/merge-patch+json" });
  await read(known.id);
}

// What has to be said to make one value of another (RFC 7396).
function patch(before, after) {
  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (!isObject(before) || !isObject(after)) return after;
  const gone = Object.keys(before).filter((name) => !(name in after)).map((name) => [name, null]);
  return Object.fromEntries([...gone, ...Object.entries(after).map(([name, value]) => [name, patch(before[name], value)])]);
}

async function tell(secret) {
  const place = byId("saved");
  const name = element("strong", {}, known.id);
  const links = element("p", {}, element("a", { href: `/notifications?subscription=${encodeURIComponent(known.id)}` }, "Its notifications"));
  links.append(" · ", element("a", { href: "/subscriptions" }, "All subscriptions"), " · ", element("a", { href: "/subscribe" }, "Another one"));
  place.replaceChildren(element("p", {}, "Saved as ", name, `. It tells you of the events after position ${known.since}.`));
  if (secret) place.append(element("p", {}, "Keep the webhook's signing secret, it is shown this once: ", element("code", {}, secret)));
  if (fields.channel.value === "feed") {
    place.append(element("p", {}, "Whoever has this address can read the feed: ", element("code", {}, await feedAddress(known.id))));
  }
  place.append(links);
  place.hidden = false;
  place.focus();
}

// Editing

async function look(id) {
  const answer = await fetch(address(id));
  const found = await answer.json();
  if (!answer.ok) throw new Problem(found, answer.status);
  known = found;
  tag = answer.headers.get("ETag");
}

async function read(id) {
  await look(id);
  const channel = fields.channel.value;
  terms.show(known);
  if (!known.delivery && channel === "feed") fields.channel.value = channel;
  byId("title").textContent = `Edit ${known.id}`;
  byId("save").textContent = "Save changes";
}

async function edit(id) {
  await read(id);
  const { language, pattern, prefixes = {}, threshold = 0.7 } = known;
  const shown = language === "interest" && (await interests());
  if (shown) {
    profile.set(shown.concepts, threshold);
    show(shown);
    byId("by-interests").click();
  } else {
    const own = Object.entries(prefixes).map(([prefix, iri]) => `${prefix}: ${iri}`);
    const others = Object.entries(readPrefixes(fields.prefixes.value)).filter(([prefix]) => !(prefix in prefixes));
    fields.prefixes.value = [...own, ...others.map(([prefix, iri]) => `${prefix}: ${iri}`)].join("\n");
    fields.language.value = language;
    editor.set(typeof pattern === "string" ? pattern : JSON.stringify(pattern, null, 1));
    byId("by-pattern").click();
    chooseLanguage();
  }
  tryOut();
}

// What the words of an interest mean, if they mean something.
function interests() {
  const { language, pattern, prefixes, threshold, own, id } = known;
  const body = { language, pattern, prefixes, threshold, own, id };
  return ask("/v1/subscriptions?dry-run=true", { method: "POST", body }).catch(() => null);
}

async function begin() {
  const { edit: id, concept } = form.dataset;
  try {
    if (id) await edit(id);
    if (concept) {
      const { items } = await ask(`/v1/concepts/way?of=${encodeURIComponent(concept)}`);
      profile.add({ concept, label: items.at(-1).label });
    }
  } catch (problem) {
    refuse(problem.message);
  }
}

// Choosing

function chooseLanguage() {
  const language = fields.language.value;
  byId("language-hint").textContent = fields.language.selectedOptions[0].dataset.hint;
  for (const option of byId("example").options) option.hidden = option.disabled = Boolean(option.value) && option.dataset.language !== language;
  byId("example").value = "";
  form.querySelector(".mapping").hidden = !["ops", "gtopss"].includes(language);
}

function startFromExample() {
  const text = byId("example").value;
  if (!text) return;
  editor.set(text);
  byId("example").value = "";
  fields.pattern.focus();
  tryOut();
}

tabs(form.querySelector('[role="tablist"]'), tryLater);
chooseLanguage();
fields.language.addEventListener("change", () => {
  chooseLanguage();
  tryLater();
});
byId("example").addEventListener("change", startFromExample);
for (const name of ["pattern", "prefixes", "mapping"]) fields[name].addEventListener("input", tryLater);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  save();
});
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  if (event.ctrlKey || event.metaKey) save();
  else if (!event.target.matches("input")) return; // in which it would be sent too easily
  event.preventDefault();
});
byId("reread").addEventListener("click", () => edit(known.id).then(() => (byId("refused").hidden = true)));
byId("overwrite").addEventListener("click", () => look(known.id).then(save).catch((problem) => refuse(problem.message)));
begin();
