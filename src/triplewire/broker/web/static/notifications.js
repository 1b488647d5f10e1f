// The inbox: filters, pages, read and unread, and what comes while it is looked at. What is read is never moved: new
// ones wait at the top until they are asked for, unless the top is what is looked at.

import { afterPause, ask, byId, count, Listing, say, sayProblem } from "./frame.js";
import { made, mark, show } from "./notes.js";

const list = byId("notifications");
const form = byId("filter");
const FULL = 30;
const MOST_LOOKS = 20;

// Filters

const local = (moment) => new Date(moment - moment.getTimezoneOffset() * 60000).toISOString().slice(0, 16);

for (const name of ["since", "until"]) {
  const field = form.elements[name];
  if (field.dataset.value) field.value = local(new Date(field.dataset.value));
}

function filters() {
  const { subscription, text, since, until, unread } = form.elements;
  const asked = new URLSearchParams();
  if (subscription.value.trim()) asked.set("subscription", subscription.value.trim());
  if (text.value.trim()) asked.set("text", text.value.trim());
  if (since.value) asked.set("since", new Date(since.value).toISOString());
  if (until.value) asked.set("until", new Date(until.value).toISOString());
  if (unread.checked) asked.set("unread", "true");
  return asked;
}

const listing = new Listing(list, byId("more"), byId("nothing"), made);
const next = Number(list.dataset.next) || null;
listing.url = new URL("/v1/inbox", location.href);
listing.url.search = filters();
listing.url.searchParams.set("limit", FULL);
if (next) listing.url.searchParams.set("after", next);

async function apply() {
  const asked = filters();
  history.replaceState(null, "", asked.size ? `?${asked}` : location.pathname);
  forget();
  asked.set("limit", FULL);
  await listing.show(`/v1/inbox?${asked}`);
  for (let looks = 0; looks < MOST_LOOKS && !byId("more").hidden && list.childElementCount < 5; looks++) {
    await listing.next(); // a text is searched for in so many at a time
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  apply();
});
form.addEventListener("input", afterPause(apply, 300));

// Read and unread

function tellUnread({ unread, most }) {
  byId("unread").textContent = unread >= most ? `${most.toLocaleString()} or more unread` : `${unread} unread`;
  byId("all-read").disabled = unread === 0;
  byId("nav-unread").hidden = unread === 0;
  byId("nav-unread").firstElementChild.textContent = unread >= 100 ? "99+" : unread;
}

async function countUnread() {
  try {
    tellUnread(await ask("/v1/inbox/unread"));
  } catch (problem) {
    sayProblem(problem);
  }
}

list.addEventListener("click", async (event) => {
  if (event.target.dataset.field !== "mark") return;
  const card = event.target.closest(".note");
  const isRead = card.classList.contains("unread");
  const found = await mark(card.dataset.number, isRead);
  if (!found) return;
  show(card, isRead);
  tellUnread(found);
});

byId("all-read").addEventListener("click", async () => {
  const newest = Math.max(Number(list.dataset.newest), ...waiting.map((one) => one.id));
  try {
    tellUnread(await ask(`/v1/inbox/read?upto=${newest}`, { method: "POST" }));
    for (const card of list.children) show(card, true);
    for (const one of waiting) one.read = true;
    say("All are marked as read.");
  } catch (problem) {
    sayProblem(problem);
  }
});

// What comes

let waiting = [];

const isWatched = () => scrollY < 80 && !list.contains(document.activeElement) && !document.hidden;

function forget() {
  waiting = [];
  byId("arrived").hidden = true;
}

function addWaiting() {
  for (const found of waiting) {
    const card = made(found);
    card.classList.add("new");
    list.prepend(card);
  }
  byId("nothing").hidden = true;
  forget();
}

function fits(found) {
  const asked = filters();
  const text = asked.get("text")?.toLowerCase();
  const said = () => `${found.event} ${found.subscription} ${JSON.stringify(found.cloudevent)}`.toLowerCase();
  const until = asked.get("until");
  return (
    (!asked.has("subscription") || asked.get("subscription") === found.subscription) &&
    (!until || new Date(found.created) < new Date(until)) &&
    (!text || said().includes(text))
  );
}

const stream = new EventSource(`/v1/notifications/stream?after=${list.dataset.newest}`);
const soon = afterPause(countUnread, 400);
stream.onmessage = (message) => {
  const found = { ...JSON.parse(message.data), read: false };
  list.dataset.newest = Math.max(found.id, Number(list.dataset.newest));
  soon();
  if (!fits(found) || list.querySelector(`[data-number="${found.id}"]`)) return;
  waiting.push(found);
  if (isWatched() && waiting.length < 5) {
    addWaiting();
  } else {
    if (waiting.length > 200) waiting.shift();
    const told = count(waiting.length, "new notification");
    byId("arrived").hidden = false;
    byId("arrived").firstElementChild.textContent = `Show ${told}`;
  }
  byId("live").textContent = `${found.subscription} was tripped by ${found.event}`;
};

byId("arrived").addEventListener("click", () => {
  const first = waiting.at(-1);
  addWaiting();
  scrollTo({ top: 0 });
  list.querySelector(`[data-number="${first?.id}"] a`)?.focus();
});

countUnread();
