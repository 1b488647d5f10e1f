// Keeps the page up to date: rates, notifications as they arrive, refused events. Text is only ever set as text.

import { ask, byId, content, short, tellTime } from "./frame.js";
import "./tour.js";

const MOST_CARDS = 20;
const MOST_REFUSED = 5;
const LOOK_EVERY = 2000;
const STEADY = 5; // samples that a rate is told of
const SAMPLES = 60;

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

function addCard(list, template, found, most) {
  const card = template.content.firstElementChild.cloneNode(true);
  for (const field of card.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    if (name === "bindings") field.replaceChildren(...Object.entries(found.bindings[0] ?? {}).sort().map(binding));
    else if (name === "data") field.textContent = content(found.cloudevent);
    else if (name === "why") field.href = `/notifications/${found.id}`;
    else field.textContent = found[name];
    if (name === "created") {
      field.dateTime = found.created;
      tellTime(field);
    }
  }
  card.classList.add("new");
  list.prepend(card);
  while (list.children.length > most) list.lastElementChild.remove();
}

function follow(list) {
  const stream = new EventSource(`/v1/notifications/stream?after=${list.dataset.newest}`);
  stream.onmessage = (message) => {
    const found = JSON.parse(message.data);
    byId("nothing").hidden = true;
    addCard(list, byId("card"), found, MOST_CARDS);
    document.dispatchEvent(new CustomEvent("notification", { detail: found }));
  };
}

async function showRefused() {
  const list = byId("letters");
  const answer = await fetch(`/v1/dead-letters?after=${list.dataset.newest}`);
  if (!answer.ok) return;
  for (const letter of (await answer.json()).items) {
    byId("refused").hidden = false;
    list.dataset.newest = letter.position;
    addCard(list, byId("refusal"), letter, MOST_REFUSED);
  }
}

// Rates

function draw(box, values) {
  const most = Math.max(...values, 1);
  const place = (value, index) => `${120 - (values.length - 1 - index) * (120 / (SAMPLES - 1))} ${34 - (value / most) * 30}`;
  const line = values.length ? `M${values.map(place).join(" L")}` : "";
  const start = 120 - (values.length - 1) * (120 / (SAMPLES - 1));
  box.querySelector(".over").setAttribute("d", line);
  box.querySelector(".under").setAttribute("d", line && `${line} L120 36 L${start} 36 Z`);
}

const told = (number) => (number >= 10 ? Math.round(number).toLocaleString() : String(Math.round(number * 10) / 10));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / (values.length || 1);

function show(found) {
  const words = {
    events_per_second: `${found.log.toLocaleString()} so far`,
    matches_per_second: `${found.notifications.toLocaleString()} so far`,
    lag: `matched up to position ${found.pipeline.toLocaleString()}`,
  };
  for (const box of document.querySelectorAll(".stat")) {
    const name = box.dataset.stat;
    const values = found.samples.map((sample) => sample[name]);
    box.querySelector(".value").textContent = told(name === "lag" ? found.lag : mean(values.slice(-STEADY)));
    box.querySelector(".told").textContent = words[name];
    draw(box, values);
  }
}

async function look() {
  if (!document.hidden) show(await ask("/v1/activity").catch(() => null) ?? { samples: [], log: 0, notifications: 0, pipeline: 0, lag: 0 });
}

const list = byId("notifications");
if (list) follow(list);
if (byId("letters")) document.addEventListener("progress", showRefused);
look();
setInterval(look, LOOK_EVERY);
