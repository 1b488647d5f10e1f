// One notification: it counts as read, its event is shown in any syntax, and the subscription can be made to ask for
// less. Text is only ever set as text.

import { ask, byId, confirmed, count, element, filled, say, sayProblem } from "./frame.js";
import { mark } from "./notes.js";

const { number, subscription, read } = byId("notification").dataset;

// Read

const button = byId("mark");
let isRead = true;
if (!read) mark(number, true);
button.addEventListener("click", async () => {
  if (!(await mark(number, !isRead))) return;
  isRead = !isRead;
  button.textContent = isRead ? "Mark as unread" : "Mark as read";
});

// The event

async function showEvent() {
  const kind = byId("format").value;
  byId("published").hidden = Boolean(kind);
  byId("rdf").hidden = !kind;
  if (!kind) return;
  try {
    const answer = await fetch(`/v1/notifications/${number}/event`, { headers: { Accept: kind } });
    const text = await answer.text();
    byId("rdf").textContent = answer.ok ? text : JSON.parse(text).detail;
  } catch {
    byId("rdf").textContent = "The broker does not answer.";
  }
}

byId("format")?.addEventListener("change", showEvent);
if (byId("format")) showEvent();

// Less

const place = byId("less");
const edit = () => element("a", { class: "button quiet", href: `/subscribe?edit=${encodeURIComponent(subscription)}` }, "Edit it");
const address = `/v1/subscriptions/${encodeURIComponent(subscription)}`;

function effect(way, recent) {
  const all = recent.complete ? "" : " looked at";
  const gone = way.samples.map((one) => one.event).join(", ");
  const more = way.drops > way.samples.length ? ", …" : "";
  const kept = `${way.keeps} of ${count(recent.matched, "recent match")}${all} stay`.replace("matchs", "matches");
  return way.drops ? `${kept}; ${way.drops} would not have come: ${gone}${more}.` : `${kept}; this one would not have come.`;
}

function pause() {
  const made = element("button", { type: "button", class: "quiet" }, "Pause it");
  made.addEventListener("click", async () => {
    try {
      await ask(address, { method: "PATCH", body: { state: "paused" } });
      say(`${subscription} is paused: nothing is sent until you resume it.`);
    } catch (problem) {
      sayProblem(problem);
    }
  });
  return made;
}

function showWays(less) {
  if (!less.matches) {
    const text = "The subscription as it is now would not match this any more.";
    place.replaceChildren(element("p", {}, text), element("div", { class: "actions" }, edit()));
    return;
  }
  const list = element("ul", { class: "ways" });
  const means = element("p", { class: "means", role: "status" });
  const save = element("button", { type: "button", disabled: true }, "Save");
  let chosen;
  for (const way of less.ways) {
    const item = filled(byId("way"), { says: way.says, effect: effect(way, less.recent) });
    item.querySelector("input").addEventListener("change", () => {
      chosen = way;
      save.disabled = false;
      means.textContent = `It would ask for: ${way.means}`;
    });
    list.append(item);
  }
  save.addEventListener("click", () => saveWay(chosen, less));
  const none = "This language has no words to leave out just this. Pause the subscription, or edit it.";
  const actions = element("div", { class: "actions" }, less.ways.length ? save : null, edit(), pause());
  place.replaceChildren(less.ways.length ? list : element("p", {}, none), means, actions);
  (list.querySelector("input") ?? actions.querySelector("a, button")).focus();
}

async function saveWay(way, less) {
  const text = `${way.says}. ${effect(way, less.recent)} It holds for what is published from now on.`;
  if (!(await confirmed(`Change ${less.subscription}?`, text, "Change it", false))) return;
  try {
    await ask(address, { method: "PATCH", body: way.patch, headers: { "If-Match": less.tag } });
    place.replaceChildren(element("p", { class: "notice" }, `Done. ${less.subscription} asks for: ${way.means}`));
    say("The subscription is changed.");
  } catch (problem) {
    sayProblem(problem);
    if (problem.status === 412) await look();
  }
}

async function look() {
  place.setAttribute("aria-busy", "true");
  try {
    showWays(await ask(`/v1/notifications/${number}/less`));
  } catch (problem) {
    sayProblem(problem);
  } finally {
    place.removeAttribute("aria-busy");
  }
}

byId("less-show")?.addEventListener("click", (event) => {
  event.target.disabled = true;
  look();
});
