// A notification in a list: made of the template #note, kept with whether it is read. Text is only ever set as text.

import { ago, ask, byId, content, element, filled, sayProblem, short } from "./frame.js";

const SNIPPET = 160;

function binding([variable, term]) {
  return element("div", {}, element("dt", {}, variable), element("dd", { title: term }, short(term)));
}

// What an event begins with, but for the prefixes.
function snippet(cloudevent) {
  const text = content(cloudevent ?? {}).slice(0, 5000).replace(/^\s*@?(prefix|base)\b.*$/gim, "");
  const line = text.split(/\s+/).filter(Boolean).join(" ");
  return line.length > SNIPPET ? `${line.slice(0, SNIPPET - 1).trimEnd()}…` : line;
}

export function made(found) {
  const address = `/notifications/${found.id}`;
  return filled(byId("note"), {
    card: (card) => {
      card.dataset.number = found.id;
      card.classList.toggle("unread", !found.read);
    },
    link: (link) => (link.href = address),
    why: (link) => {
      link.href = address;
      link.setAttribute("aria-label", `Why did ${found.event} trip ${found.subscription}?`);
    },
    subscription: found.subscription,
    event: found.event,
    state: (badge) => (badge.hidden = Boolean(found.read)),
    score: (badge) => {
      badge.hidden = found.score >= 1;
      badge.textContent = `${found.score.toFixed(2)} similar`;
    },
    created: (time) => {
      time.dateTime = found.created;
      ago(time);
    },
    snippet: snippet(found.cloudevent),
    bindings: (list) => list.replaceChildren(...Object.entries(found.bindings[0] ?? {}).sort().map(binding)),
    mark: found.read ? "Mark as unread" : "Mark as read",
  });
}

export function show(card, isRead) {
  card.classList.toggle("unread", !isRead);
  card.querySelector('[data-field="state"]').hidden = isRead;
  card.querySelector('[data-field="mark"]').textContent = isRead ? "Mark as unread" : "Mark as read";
}

// Have a notification count as read or not; how many are not is told then.
export async function mark(number, isRead) {
  try {
    return await ask(`/v1/inbox/${number}/read`, { method: isRead ? "PUT" : "DELETE" });
  } catch (problem) {
    sayProblem(problem);
    return null;
  }
}
