// What another ontology would change, for people: the answer of a dry run, of …/difference or of …/effect.

import { count, element } from "/static/frame.js";

const KINDS = { classes: "classes", properties: "properties", concepts: "SKOS concepts", words: "words" };

// A difference, as a list that can be opened for each kind of thing.
export function difference(told) {
  const parts = Object.entries(KINDS)
    .map(([kind, name]) => [name, told[kind]])
    .filter(([, ways]) => ways.appeared.count || ways.gone.count)
    .map(([name, { appeared, gone }]) => {
      const ways = [["+", "new", appeared], ["−", "gone", gone]].filter(([, , way]) => way.count);
      const heading = `${name}: ${ways.map(([, word, way]) => `${way.count.toLocaleString()} ${word}`).join(", ")}`;
      const rows = ways.flatMap(([sign, word, way]) => [
        ...way.items.map((one) => row(sign, word, one, name)),
        ...(way.count > way.items.length ? [element("li", { class: "hint" }, `… and ${(way.count - way.items.length).toLocaleString()} more ${word}`)] : []),
      ]);
      const few = appeared.count + gone.count <= 12;
      return element("details", { open: few }, element("summary", {}, heading), element("ul", { class: "differences" }, ...rows));
    });
  if (parts.length) return element("div", { class: "difference" }, ...parts);
  return element("p", { class: "notice" }, "Nothing is different in what is a kind of what, and what it is called.");
}

function row(sign, word, one, name) {
  const below = name === KINDS.concepts ? "is narrower than" : "is a kind of";
  const language = one.language ? ` (${one.language})` : "";
  const text = "word" in one ? `${one.label} is called “${one.word}”${language}` : `${one.label} ${below} ${one.under}`;
  const mark = element("span", { class: `sign ${word}`, "aria-label": word, role: "img" }, sign);
  return element("li", { title: one.term ?? `${one.lower} ⊑ ${one.upper}` }, mark, ` ${text}`);
}

// An effect: who would be told of other events than now.
export function effect(told) {
  const { subscriptions, affected, compared, tried } = told;
  const scope = `Tried: ${count(compared.subscriptions, "subscription")}${compared.complete ? "" : " (of more)"} on the newest ${count(tried.events, "event")}${tried.complete ? "" : " (of more)"}.`;
  const box = element("div", { class: "effect" });
  if (!affected) {
    const why = compared.subscriptions ? "No subscription matches differently." : "There is no subscription that could match differently.";
    box.append(element("p", { class: "notice" }, why));
  } else {
    box.append(element("p", {}, element("strong", {}, `${count(affected, "subscription")} ${affected === 1 ? "matches" : "match"} differently.`)));
    box.append(element("ul", { class: "affected" }, ...subscriptions.map(affectedOne)));
    const others = affected - subscriptions.length;
    if (others) box.append(element("p", { class: "hint" }, `${count(others, "subscription")} of others, or beyond what is listed.`));
  }
  box.append(element("p", { class: "hint" }, scope));
  return box;
}

function affectedOne(one) {
  const item = element("li", {}, element("strong", {}, one.id));
  if (one.gained) item.append(" ", element("span", { class: "badge good" }, `${count(one.gained, "event")} more`));
  if (one.lost) item.append(" ", element("span", { class: "badge wrong" }, `${count(one.lost, "event")} fewer`));
  if (one.problem) item.append(element("p", { class: "notice wrong" }, `It cannot be understood, and matches nothing: ${one.problem}`));
  if (one.mended) item.append(element("p", { class: "notice" }, "It could not be understood before, and can be."));
  if (one.events.length) {
    const told = one.events.map((event) => `${event.change === "gained" ? "+" : "−"} ${event.event}`).join("   ");
    item.append(element("p", { class: "code quiet-text" }, told));
  }
  return item;
}

// A dry run: both.
export const changes = (told) =>
  element("div", { class: "changes" }, element("h3", {}, "What would be different"), difference(told.difference), element("h3", {}, "Who would notice"), effect(told.effect));

// Offer the concepts whose words begin as somebody types, in a <datalist>.
export async function offer(list, text, ask) {
  if (text.trim().length < 2) return;
  const { items } = await ask(`/v1/concepts?${new URLSearchParams({ search: text, limit: 12 })}`);
  list.replaceChildren(...items.map((one) => element("option", { value: one.label }, one.concept)));
}
