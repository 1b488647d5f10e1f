// What a subscription comes to, as a dry run tells it.

import { ask, byId, count, element } from "./frame.js";

const AT_FIRST = 3;
export const FURTHER = 10000;

export class Trial {
  constructor(lookFurther) {
    byId("more-samples").addEventListener("click", () => this.#showSamples(Infinity));
    byId("further").addEventListener("click", lookFurther);
  }

  wait() {
    byId("tried").classList.add("waiting");
  }

  // What is shown is of something that was written before.
  outdate() {
    this.wait();
    byId("nothing-yet").hidden = true;
    const before = byId("tried").hidden ? "" : " This is of what was written before.";
    byId("trial-problem").textContent = `There is a mistake in it.${before}`;
  }

  // Nothing can be told, perhaps for a reason.
  clear(reason = "") {
    byId("tried").hidden = true;
    byId("nothing-yet").hidden = Boolean(reason);
    byId("trial-problem").textContent = reason;
  }

  show(answer) {
    byId("tried").hidden = false;
    byId("tried").classList.remove("waiting");
    byId("nothing-yet").hidden = true;
    byId("trial-problem").textContent = "";
    byId("means").textContent = answer.means;
    const warnings = answer.warnings.filter((one) => !(answer.concepts && one.includes(" is a new concept, put under ")));
    byId("warnings").replaceChildren(...warnings.map((one) => element("li", {}, one)));
    byId("family").replaceChildren(...family(answer));
    byId("matched").replaceChildren(...matched(answer));
    byId("drawing").replaceChildren(drawn(answer.picture));
    this.samples = answer.samples;
    this.#showSamples(AT_FIRST);
    byId("missed").replaceChildren(...(answer.matched || !answer.missed ? [] : [sample(answer.missed, "Why not: ")]));
    byId("further").hidden = !(answer.tried.from > 1) || answer.tried.limits.positions >= FURTHER;
  }

  #showSamples(most) {
    byId("samples").replaceChildren(...this.samples.slice(0, most).map((one) => sample(one)));
    byId("more-samples").hidden = this.samples.length <= most;
  }
}

function family({ equal_to: same, covered_by: above, covers: below }) {
  const told = [];
  const tell = (before, ids, after) => told.push(element("li", {}, before, ...links(ids), after));
  if (same.length) tell("You have this already: ", same, ".");
  if (above.length) tell("Already covered by ", above, ": whatever this tells you of, that does, too.");
  if (below.length) tell("It covers ", below, ", which you may not need any more.");
  return told;
}

function links(ids) {
  const made = ids.slice(0, 5).map((id) => element("a", { href: `/subscribe?edit=${encodeURIComponent(id)}` }, id));
  const others = ids.length - made.length;
  return made.flatMap((link, place) => (place ? [", ", link] : [link])).concat(others ? [` and ${others} others`] : []);
}

function matched({ matched: number, tried }) {
  if (!tried.events) return ["There is no event yet to try it on. ", element("a", { href: "/publish" }, "Publish one"), "."];
  const told = [
    element("strong", {}, number.toLocaleString()),
    ` of the last ${count(tried.events, "event")} would have been told to you.`,
  ];
  if (!tried.complete) told.push(" There was no time to look at more.");
  return told;
}

function drawn(svg) {
  return document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
}

function sample(found, before = "") {
  const title = `${before}${found.says || found.event}`;
  const score = found.score > 0 && found.score < 1 ? `, score ${found.score.toFixed(2)}` : "";
  const summary = element("summary", {}, title, " ");
  summary.append(element("span", { class: "from" }, `${found.event}, from ${found.source}${score}`));
  const details = element("details", {}, summary);
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && explain(details, found));
  return element("li", {}, details);
}

async function explain(details, found) {
  const link = found.explanation;
  if (!link) return details.append(element("p", {}, "The pattern is too long to be explained here; save it first."));
  const alt = `${found.event} and the subscription, and what stands for what; in words below`;
  const picture = element("div", { class: "picture", tabindex: "0", role: "region", "aria-label": "Why it matches, or does not" });
  picture.append(element("img", { src: link, alt }));
  details.append(picture);
  const text = await ask(link, { headers: { Accept: "text/plain" } }).catch((problem) => problem.message);
  details.append(element("pre", { tabindex: "0" }, text));
}
