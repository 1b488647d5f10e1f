// What is proposed, and the decision on it.

import { afterPause, ask, byId, element, filled, Listing, say, short, tellTime } from "/static/frame.js";
import { changes, offer } from "/static/changes.js";

const list = byId("proposals");
const may = list.dataset.may === "true";
const DONE = { accept: "is a concept for everybody from now on", merge: "is another word from now on", reject: "stays its proposers' own" };

function card(one) {
  const made = filled(byId("proposal"), {
    word: one.word,
    place: (place) => place.append("under ", element("a", { href: `/ontology?${new URLSearchParams({ concept: one.under })}` }, short(`<${one.under}>`))),
    state: (place) => {
      place.textContent = one.state;
      place.classList.toggle("waiting", one.state === "open");
      place.classList.toggle("good", one.state === "accepted" || one.state === "merged");
    },
    created: (place) => {
      place.dateTime = one.created;
      tellTime(place);
    },
    who: `Proposed by ${one.proposer}, with ${one.origin}.${decision(one)}`,
    form: (form) => (may && one.state === "open" ? wire(form, one) : form.remove()),
  });
  return made;
}

function decision(one) {
  if (one.state === "open") return "";
  const reason = one.reason ? `: ${one.reason}` : "";
  return ` ${one.author} has ${one.state} it${reason}${one.version ? ` (version ${one.version})` : ""}.`;
}

function wire(form, one) {
  form.into.setAttribute("list", "concepts");
  form.into.addEventListener("input", afterPause(() => offer(byId("concepts"), form.into.value, ask).catch(() => {})));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const verb of ["accept", "merge", "reject"]) form[verb].addEventListener("click", () => decide(form, one, verb));
  form.elements.try.addEventListener("click", () => tryOut(form, one));
}

function body(form, verb) {
  const said = form.reason.value ? { reason: form.reason.value } : {};
  return verb === "merge" ? { ...said, into: form.into.value } : said;
}

async function sent(form, one, verb, dryRun) {
  const box = form.querySelector(".error");
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  try {
    const url = `/v1/concepts/proposals/${one.id}/${verb}${dryRun ? "?dry-run=true" : ""}`;
    const told = await ask(url, { method: "POST", body: body(form, verb) });
    box.hidden = true;
    return told;
  } catch (problem) {
    box.hidden = false;
    box.querySelector("p").textContent = problem.detail;
    form.into.setAttribute("aria-invalid", String(verb === "merge"));
    return null;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

async function decide(form, one, verb) {
  if (verb === "merge" && !form.into.value.trim()) {
    form.into.focus();
    form.querySelector(".error").hidden = false;
    form.querySelector(".error p").textContent = "Say into which concept: by its name, or by its IRI.";
    return;
  }
  const told = await sent(form, one, verb, false);
  if (!told) return;
  say(`${one.word} ${DONE[verb]}.`);
  const following = form.closest(".card").nextElementSibling;
  await show();
  (following ? list.querySelector("button") : byId("state"))?.focus();
}

// What merging would change where a concept is named, else what accepting would.
async function tryOut(form, one) {
  const verb = form.into.value.trim() ? "merge" : "accept";
  const told = await sent(form, one, verb, true);
  const place = form.querySelector('[data-field="changes"]');
  if (!told) return place.replaceChildren();
  const what = verb === "merge" ? `If ${one.word} is merged into ${form.into.value}` : `If ${one.word} is accepted`;
  place.replaceChildren(element("p", { class: "quiet-text" }, `${what}:`), changes(told));
}

const listing = new Listing(list, byId("more"), byId("empty"), card);
const show = () => {
  const state = byId("state").value;
  return listing.show(`/v1/concepts/proposals?limit=50${state ? `&state=${state}` : ""}`);
};
byId("state").addEventListener("change", show);
show();
