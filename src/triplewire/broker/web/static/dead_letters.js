// Dead letters: a list to look through, each to be mended on the page of publishing, or dismissed. Text is only ever
// set as text.

import { Listing, afterPause, ago, ask, byId, content, element, filled, say, sayProblem } from "./frame.js";

const AT_ONCE = 20;
const LONGEST = 20000;
const SHOWN = ["id", "source", "type", "datacontenttype", "time", "home", "dataschema", "subject"];
const BADGES = { open: "wrong", republished: "good", dismissed: "" };

const filter = byId("filter");

function facts(event) {
  const known = SHOWN.filter((name) => event?.[name]);
  return known.flatMap((name) => [element("dt", {}, name), element("dd", {}, String(event[name]))]);
}

// The data, with the place of the error marked.
function marked(event, place) {
  const text = content(event);
  if (!place || typeof event.data !== "string") return [text.slice(0, LONGEST)];
  const before = text.split("\n").slice(0, place.line - 1);
  const at = before.reduce((length, line) => length + line.length + 1, 0) + place.column - 1;
  const from = Math.max(at - LONGEST / 2, 0);
  const sign = /^\w+|^[^\n]/.exec(text.slice(at))?.[0] ?? " ";
  const rest = text.slice(at + sign.length, at + LONGEST / 2);
  return [text.slice(from, at), element("mark", {}, sign), sign === " " && text[at] === "\n" ? `\n${rest}` : rest];
}

let newest = 0;

function made(found) {
  newest = Math.max(newest, found.position);
  const isOpen = found.state === "open";
  const event = found.cloudevent;
  return filled(byId("letter"), {
    event: found.event,
    state: (place) => {
      place.textContent = found.state;
      if (BADGES[found.state]) place.classList.add(BADGES[found.state]);
      place.closest("li").classList.toggle("settled", !isOpen);
    },
    created: (place) => {
      place.dateTime = found.created;
      ago(place);
    },
    reason: found.reason,
    from: `Position ${found.position.toLocaleString()}, from ${found.source}`,
    republished: (place) => {
      place.hidden = found.republished == null;
      place.textContent = `Published again at position ${found.republished?.toLocaleString()}.`;
    },
    place: (place) => {
      place.hidden = !found.place;
      place.textContent = found.place?.excerpt ?? "";
    },
    facts: (place) => place.replaceChildren(...facts(event)),
    data: (place) => place.replaceChildren(...(event ? marked(event, found.place) : ["It is no longer kept."])),
    mend: (place) => {
      place.href = `/publish?mends=${found.position}`;
      place.hidden = found.state === "republished";
    },
    dismiss: (place) => {
      place.textContent = isOpen ? "Dismiss" : "Open again";
      place.addEventListener("click", () => change(place.closest("li"), found.position, isOpen ? "dismissed" : "open"));
    },
  });
}

// The letter as it stands now takes the place of the one before, so that what was done can be undone there.
async function change(card, position, state) {
  try {
    const now = made(await ask(`/v1/dead-letters/${position}`, { method: "PATCH", body: { state } }));
    card.replaceWith(now);
    now.querySelector("button").focus();
    say(state === "open" ? "It is open again." : "It is dismissed.");
  } catch (problem) {
    sayProblem(problem);
  }
}

const listing = new Listing(byId("letters"), byId("more"), byId("empty"), made);

function query() {
  const { search, state } = filter.elements;
  const asked = new URLSearchParams({ limit: AT_ONCE });
  if (search.value.trim()) asked.set("contains", search.value.trim());
  if (state.value) asked.set("state", state.value);
  return asked;
}

function show() {
  const { search, state } = filter.elements;
  const isPlain = state.value === "open" && !search.value.trim();
  for (const text of byId("empty").querySelectorAll("[data-when]")) text.hidden = (text.dataset.when === "open") !== isPlain;
  newest = 0;
  return listing.show(`/v1/dead-letters?newest=true&${query()}`);
}

// What is refused meanwhile comes to the top.
async function showNew() {
  const { items } = await ask(`/v1/dead-letters?after=${newest}&${query()}`).catch(() => ({ items: [] }));
  const known = newest;
  byId("letters").prepend(...items.filter((one) => one.position > known).reverse().map(made));
  byId("empty").hidden = byId("letters").childElementCount > 0;
}

filter.addEventListener("submit", (event) => event.preventDefault());
filter.addEventListener("input", afterPause(show));
show().then(() => document.addEventListener("progress", showNew));
