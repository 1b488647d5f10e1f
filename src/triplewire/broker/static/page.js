// Keeps the page up to date, and sends what is written into its two boxes. Text is only ever set as text.
"use strict";

const MOST_CARDS = 200;
const CHECK_EVERY = 3000;

const byId = (id) => document.getElementById(id);

// Notifications and refused events

function short(term) {
  const literal = /^("(?:[^"\\]|\\.)*")(?:\^\^<[^>]*>|(@[-\w]+))?$/s.exec(term);
  if (literal) return literal[1] + (literal[2] || "");
  const local = /^<.*?([^/#:<>]+)[/#]?>$/.exec(term);
  return local ? local[1] : term;
}

function content(cloudevent) {
  const data = cloudevent.data ?? cloudevent.data_base64 ?? "";
  return typeof data === "string" ? data : JSON.stringify(data, null, 2);
}

function tellTime(element) {
  const moment = new Date(element.dateTime);
  if (isNaN(moment)) return;
  const today = moment.toDateString() === new Date().toDateString();
  element.textContent = today ? moment.toLocaleTimeString() : moment.toLocaleString();
}

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

// How far the pipeline has got

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

function showProgress(log, lag) {
  const pill = byId("progress");
  const events = (count) => `${count.toLocaleString()} event${count === 1 ? "" : "s"}`;
  const text = lag ? `${events(lag)} waiting to be matched` : `${events(log)}, all matched`;
  pill.classList.toggle("waiting", lag > 0);
  pill.classList.remove("lost");
  if (pill.textContent !== text) pill.textContent = text;
}

function showLost() {
  const pill = byId("progress");
  pill.textContent = "The broker does not answer";
  pill.classList.add("lost");
}

async function check() {
  if (document.hidden) return;
  try {
    const answer = await fetch("/healthz");
    if (!answer.ok) return showLost();
    const { log, lag } = await answer.json();
    showProgress(log, lag);
    await showRefused();
  } catch {
    showLost();
  }
}

// The two boxes

function showProblem(form, field, problem) {
  const box = form.querySelector(".error");
  box.hidden = !problem;
  field.setAttribute("aria-invalid", String(Boolean(problem)));
  if (!problem) return;
  box.querySelector("pre").textContent = problem.excerpt ?? "";
  box.querySelector("p").textContent = problem.detail ?? problem.title;
  form.querySelector("output").textContent = "";
  if (problem.line) {
    const before = field.value.split("\n").slice(0, problem.line - 1);
    const start = before.reduce((length, line) => length + line.length + 1, 0) + problem.column - 1;
    field.focus();
    field.setSelectionRange(start, start + 1);
  }
}

async function send(form, field, url, type, body, said) {
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const answer = await fetch(url, { method: "POST", headers: { "Content-Type": type }, body });
    const found = await answer.json();
    showProblem(form, field, answer.ok ? null : found);
    if (answer.ok) form.querySelector("output").textContent = said(found);
  } catch {
    showProblem(form, field, { detail: "The broker does not answer." });
  } finally {
    button.disabled = false;
  }
}

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

function start() {
  const subscribe = byId("subscribe");
  const publish = byId("publish");
  const { log, lag } = byId("progress").dataset;
  subscribe.addEventListener("submit", onSubscribe);
  publish.addEventListener("submit", onPublish);
  offerExamples(subscribe.elements.language, subscribe.elements.pattern);
  offerExamples(publish.elements.format, publish.elements.data);
  document.querySelectorAll("time").forEach(tellTime);
  showProgress(Number(log), Number(lag));
  follow();
  setInterval(check, CHECK_EVERY);
  document.addEventListener("visibilitychange", check);
}

start();
