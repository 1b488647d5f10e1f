// Keeps the page up to date, and sends what is written into its two boxes. Text is only ever set as text.

import { byId, content, send, short, tellTime } from "./frame.js";

const MOST_CARDS = 200;

// Notifications and refused events

function binding([variable, term]) {
  const row = document.createElement("div");
  const name = document.createElement("dt");
  const value = document.createElement("dd");
  name.textContent = variable;
  value.textContent = short(term);
  value.title = term;
  row.append(name, value);
  return row;
}

function addCard(list, template, found) {
  const card = template.content.firstElementChild.cloneNode(true);
  for (const field of card.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    if (name === "bindings") field.replaceChildren(...Object.entries(found.bindings[0] ?? {}).sort().map(binding));
    else if (name === "data") field.textContent = content(found.cloudevent);
    else field.textContent = found[name];
    if (name === "created") {
      field.dateTime = found.created;
      tellTime(field);
    }
  }
  card.classList.add("new");
  list.prepend(card);
  while (list.children.length > MOST_CARDS) list.lastElementChild.remove();
}

function follow() {
  const list = byId("notifications");
  const stream = new EventSource(`/v1/notifications/stream?after=${list.dataset.newest}`);
  stream.onmessage = (message) => {
    byId("nothing").hidden = true;
    addCard(list, byId("card"), JSON.parse(message.data));
  };
}

async function showRefused() {
  const list = byId("letters");
  const answer = await fetch(`/v1/dead-letters?after=${list.dataset.newest}`);
  if (!answer.ok) return;
  for (const letter of (await answer.json()).items) {
    byId("refused").hidden = false;
    list.dataset.newest = letter.position;
    addCard(list, byId("refusal"), letter);
  }
}

// The two boxes

function readPrefixes(text) {
  const lines = text.matchAll(/^\s*(?:@?prefix\s+)?([^\s:]*):\s*<?([^\s<>]+)>?[\s.]*$/gim);
  return Object.fromEntries(Array.from(lines, ([, prefix, iri]) => [prefix, iri]));
}

function onSubscribe(event) {
  event.preventDefault();
  const form = event.target;
  const { id, language, prefixes, pattern } = form.elements;
  const record = { language: language.value, pattern: pattern.value, prefixes: readPrefixes(prefixes.value) };
  if (id.value.trim()) record.id = id.value.trim();
  const said = (found) =>
    [`Subscribed as ${found.id}, for the events after position ${found.since}.`, ...found.warnings].join(" Mind: ");
  send(form, pattern, "/v1/subscriptions", "application/json", JSON.stringify(record), said);
}

function onPublish(event) {
  event.preventDefault();
  const form = event.target;
  const { format, data } = form.elements;
  const said = (found) => `Accepted at log position ${found.position}.`;
  send(form, data, "/v1/events", format.value, data.value, said);
}

// A box that still holds an example gets the example of what was chosen.
function offerExamples(select, field) {
  const examples = Array.from(select.options, (option) => option.dataset.example);
  select.addEventListener("change", () => {
    if (!field.value.trim() || examples.includes(field.value)) field.value = select.selectedOptions[0].dataset.example;
  });
}

const subscribe = byId("subscribe");
const publish = byId("publish");
subscribe.addEventListener("submit", onSubscribe);
publish.addEventListener("submit", onPublish);
offerExamples(subscribe.elements.language, subscribe.elements.pattern);
offerExamples(publish.elements.format, publish.elements.data);
document.addEventListener("progress", showRefused);
follow();
