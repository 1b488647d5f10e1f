// Subscriptions: filters, pages, and what can be done with each: pause, resume, redeliver, delete. Text is only ever
// set as text.

import { afterPause, ago, ask, byId, confirmed, count, element, filled, Listing, say, sayProblem } from "./frame.js";

const FULL = 30;
const MOST_LOOKS = 100;
const list = byId("subscriptions");
const form = byId("filter");
const addressOf = (id) => `/v1/subscriptions/${encodeURIComponent(id)}`;

// A row

const when = (moment) => {
  const made = element("time", { datetime: moment });
  ago(made);
  return made;
};

function health(place, to) {
  if (!to) return place.replaceChildren(element("span", { class: "quiet-text" }, "shown here only"));
  const isWrong = to.failing || ["stopped", "ended"].includes(to.state);
  const isWaiting = to.pending || ["paused", "unconfirmed"].includes(to.state);
  const word = to.failing ? "failing" : to.state !== "active" ? to.state : to.pending ? "waiting" : "delivered";
  const badge = element("span", { class: `badge ${isWrong ? "wrong" : isWaiting ? "waiting" : "good"}` }, word);
  const detail = element("span", { class: "detail" }, `${to.delivered.toLocaleString()} delivered`);
  if (to.pending) detail.append(`, ${to.pending.toLocaleString()}${to.pending >= 1000 ? " or more" : ""} waiting`);
  if (to.failing) detail.append("; since ", when(to.failing.since), `: ${to.failing.reason}`);
  const until = to.circuit?.openUntil;
  if (until) detail.append("; its host is left alone until ", element("time", { datetime: until }, until));
  place.replaceChildren(badge, ` ${to.channel} `, detail);
}

function showState(place, id, state) {
  for (const badge of place.querySelectorAll('[data-field="state"]')) {
    badge.textContent = state;
    badge.className = `badge ${{ active: "good", paused: "waiting" }[state] ?? ""}`;
  }
  const actions = place.querySelector("[data-state]");
  actions.dataset.id = id;
  actions.dataset.state = state;
  const names = { pause: state === "paused" ? "Resume" : "Pause", edit: "Edit", redeliver: "Redeliver", delete: "Delete" };
  for (const [action, name] of Object.entries(names)) {
    const button = actions.querySelector(`[data-action="${action}"]`);
    button.textContent = name;
    button.setAttribute("aria-label", `${name} ${id}`);
  }
  actions.querySelector('[data-action="pause"]').hidden = state === "expired";
}

function made(one) {
  const row = filled(byId("row"), {
    row: (place) => (place.dataset.id = one.id),
    link: (link) => {
      link.href = `/subscriptions/${encodeURIComponent(one.id)}`;
      link.textContent = one.id;
    },
    means: one.problem ?? one.means,
    language: one.language,
    notifications: one.notifications.toLocaleString(),
    last: (cell) => cell.replaceChildren(one.last ? when(one.last.created) : "never"),
    health: (place) => health(place, one.delivery),
  });
  showState(row, one.id, one.state);
  row.querySelector('[data-action="edit"]').href = `/subscribe?edit=${encodeURIComponent(one.id)}`;
  row.querySelector('[data-action="redeliver"]').hidden = !one.delivery;
  return row;
}

// Filters and pages

function filters() {
  const asked = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...asked]) if (!value.trim()) asked.delete(name);
  return asked;
}

if (list) {
  const listing = new Listing(list, byId("more"), byId("nothing"), made);
  listing.url = new URL(`/v1/standings?${filters()}`, location.href);
  listing.url.searchParams.set("limit", FULL);
  if (list.dataset.next) listing.url.searchParams.set("after", list.dataset.next);
  const apply = async () => {
    const asked = filters();
    history.replaceState(null, "", asked.size ? `?${asked}` : location.pathname);
    asked.set("limit", FULL);
    await listing.show(`/v1/standings?${asked}`);
    for (let looks = 0; looks < MOST_LOOKS && !byId("more").hidden && list.childElementCount < 5; looks++) {
      await listing.next(); // some are looked at at a time
    }
    byId("table").hidden = list.childElementCount === 0;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  form.addEventListener("input", afterPause(apply, 300));
}

// What can be done

async function pause(id, place, state) {
  const changed = state === "paused" ? "active" : "paused";
  const { state: now } = await ask(addressOf(id), { method: "PATCH", body: { state: changed } });
  showState(place, id, now);
  say(changed === "paused" ? `${id} is paused: it goes on matching, and nothing is sent.` : `${id} is active again.`);
}

async function remove(id, place) {
  const text = "It matches nothing any more, and nothing more is sent. The notifications that it brought stay.";
  if (!(await confirmed(`Delete ${id}?`, text, "Delete"))) return;
  await ask(addressOf(id), { method: "DELETE" });
  if (!list) return location.assign("/subscriptions");
  const next = place.nextElementSibling ?? place.previousElementSibling;
  place.remove();
  next?.querySelector("a")?.focus();
  byId("nothing").hidden = byId("table").hidden = list.childElementCount > 0;
  byId("table").hidden = list.childElementCount === 0;
  say(`${id} is deleted.`);
}

function redeliver(id) {
  const dialog = byId("redelivery");
  const { by, since, from } = dialog.querySelector("form").elements;
  byId("redelivery-title").textContent = `Redeliver ${id}`;
  dialog.returnValue = "";
  dialog.showModal();
  for (const field of [since, from]) field.oninput = () => (by.value = field.name);
  dialog.onclose = async () => {
    if (dialog.returnValue !== "yes") return;
    const asked = by.value === "since" ? { since: new Date(since.value || 0).toISOString() } : { from: from.value || 0 };
    const address = `/v1/deliveries/${encodeURIComponent(id)}/redeliver?${new URLSearchParams(asked)}`;
    try {
      const { pending } = await ask(address, { method: "POST" });
      say(`${count(pending, "notification")} of ${id} will be sent again.`);
    } catch (problem) {
      sayProblem(problem);
    }
  };
}

// An address that a feed reader can use, which sends no headers of ours.
byId("feed-address")?.addEventListener("click", async (event) => {
  const { feed, id } = event.target.dataset;
  try {
    const { token } = await ask("/v1/tokens", { method: "POST", body: { feed: id, name: `feed of ${id}`.slice(0, 100) } });
    byId("feed-made").textContent = `${location.origin}${feed}?token=${token} — whoever has it can read the feed.`;
  } catch (problem) {
    sayProblem(problem);
  }
});

byId("main").addEventListener("click", async (event) => {
  const { action } = event.target.dataset;
  const place = event.target.closest("[data-field=row]") ?? byId("main");
  const { id, state } = event.target.closest("[data-state]")?.dataset ?? {};
  if (!id || !action || action === "edit") return;
  try {
    if (action === "pause") await pause(id, place, state);
    else if (action === "delete") await remove(id, place);
    else redeliver(id);
  } catch (problem) {
    sayProblem(problem);
  }
});
