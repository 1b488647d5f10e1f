// Sources: adding feeds, and how each of them fares, kept up to date. Text is only ever set as text.

import { Listing, ask, byId, confirmed, count, filled, say, sayProblem } from "./frame.js";

const AT_ONCE = 100;
const cards = new Map(); // by id

// Words

const STATES = { paused: ["Paused", ""], gone: ["Gone", "wrong"] };

function health(source) {
  if (source.failing && source.state === "active") return ["Failing", "wrong"];
  if (STATES[source.state]) return STATES[source.state];
  return source.reads ? ["Healthy", "good"] : ["Not read yet", "waiting"];
}

function span(seconds) {
  for (const [size, noun] of [[86400, "day"], [3600, "hour"], [60, "minute"]]) {
    if (seconds >= size) return count(Math.round(seconds / size), noun);
  }
  return count(Math.round(seconds), "second");
}

function when(moment) {
  if (!moment) return "never";
  const seconds = (new Date(moment) - Date.now()) / 1000;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? `in ${span(seconds)}` : `${span(-seconds)} ago`;
}

function next(source) {
  if (source.state === "paused") return "not while it is paused";
  if (source.state === "gone") return "not any more, unless you ask for it";
  return source.next && new Date(source.next) > Date.now() ? when(source.next) : "now";
}

function texts(source) {
  const [state] = health(source);
  return {
    url: source.url,
    health: state,
    failing: source.failing ? `Failing since ${new Date(source.failing.since).toLocaleString()}: ${source.failing.reason}` : "",
    lastRead: when(source.lastRead),
    lastSuccess: when(source.lastSuccess),
    next: next(source),
    period: `every ${span(source.pause).replace(/^1 /, "")}`,
    lastChange: when(source.lastChange),
    entries: `${count(source.published, "event")}, ${source.known.toLocaleString()} known`,
    pause: source.state === "paused" ? "Go on" : "Pause",
  };
}

// Only what has changed is written, so that nobody loses their place.
function update(card, source) {
  for (const [name, text] of Object.entries(texts(source))) {
    const place = card.querySelector(`[data-field="${name}"]`);
    if (place.textContent !== text) place.textContent = text;
  }
  const [, look] = health(source);
  card.querySelector('[data-field="health"]').className = `badge ${look}`;
  card.querySelector('[data-field="failing"]').hidden = !source.failing;
  card.className = `card source ${source.state} ${source.failing ? "failing-now" : ""}`;
  card.querySelector('[data-field="read"]').disabled = source.state === "paused";
  card.dataset.state = source.state;
}

function made(source) {
  const address = `/v1/sources/${source.id}`;
  const on = (work) => (button) => button.addEventListener("click", () => work(button).catch(sayProblem));
  const card = filled(byId("source"), {
    read: on(async () => {
      update(card, await ask(`${address}/read`, { method: "POST" }));
      say("It is read now.");
    }),
    pause: on(async () => update(card, await ask(address, { method: "PATCH", body: { paused: card.dataset.state !== "paused" } }))),
    remove: on(async () => {
      if (!(await confirmed("Read this feed no more?", `${source.url} — what was published from it stays.`, "Remove"))) return;
      await ask(address, { method: "DELETE" });
      card.remove();
      cards.delete(source.id);
      byId("empty").hidden = cards.size > 0;
      say("It is removed.");
      byId("url").focus();
    }),
  });
  update(card, source);
  cards.set(source.id, card);
  return card;
}

const listing = new Listing(byId("sources"), byId("more"), byId("empty"), made);

async function refresh() {
  if (!cards.size) return;
  const { items } = await ask(`/v1/sources?limit=${AT_ONCE}`).catch(() => ({ items: [] }));
  for (const source of items) {
    const card = cards.get(source.id);
    if (card) update(card, source);
  }
}

byId("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const field = form.elements.url;
  try {
    const source = await ask("/v1/sources", { method: "POST", body: { url: field.value.trim() } });
    const box = byId("add-error");
    box.hidden = true;
    field.setAttribute("aria-invalid", "false");
    if (cards.has(source.id)) return say("It is read for you already.");
    byId("sources").append(made(source));
    byId("empty").hidden = true;
    field.value = "";
    say("It is added, and read within seconds.");
  } catch (problem) {
    const box = byId("add-error");
    box.hidden = false;
    box.querySelector("p").textContent = problem.detail;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }
});
document.addEventListener("progress", refresh);
listing.show(`/v1/sources?limit=${AT_ONCE}`);
