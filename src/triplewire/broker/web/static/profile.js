// Interests: concepts by a tree and by words, new words of one's own, and how near an event must come.

import { afterPause, ask, byId, count, element } from "./frame.js";
import { Tree } from "./tree.js";

const OFFERED = 8;
const BARS = 50;
const BESIDE = 4;

export class Profile {
  constructor(changed) {
    this.changed = changed;
    this.chosen = [];
    this.scores = null;
    this.tree = new Tree(byId("tree"), { several: true, chosen: (branch, is) => this.#toggle(branch, is) });
    this.tree.ready.then(() => (byId("no-concepts").hidden = byId("tree").childElementCount > 0));
    this.slider = byId("threshold");
    this.slider.addEventListener("input", () => this.#showNearness());
    this.slider.addEventListener("change", changed);
    this.words = new Words((one) => this.add(one));
    this.#showNearness();
  }

  // The members of the record, or null if nothing is chosen.
  record() {
    if (!this.chosen.length) return null;
    const concepts = this.chosen.map((one) => (one.concept ? `<${one.concept}>` : one.word));
    const record = { language: "interest", pattern: { concepts }, threshold: Number(this.slider.value) };
    const own = this.chosen.filter((one) => one.word && one.under).map((one) => [one.word, `<${one.under}>`]);
    if (own.length) record.own = Object.fromEntries(own);
    return record;
  }

  // Why it cannot be tried yet, if so.
  lacking() {
    const lost = this.chosen.find((one) => one.word && !one.under);
    return lost ? `Say what ${lost.word} is a kind of.` : null;
  }

  complain(text) {
    byId("profile-problem").textContent = text ?? "";
  }

  set(chosen, threshold) {
    this.chosen = chosen;
    this.slider.value = threshold;
    this.#show();
    this.#showNearness();
  }

  add(one) {
    const known = this.chosen.some((other) => (one.concept ? other.concept === one.concept : other.word === one.word));
    if (known) return;
    if (one.word) one.under = this.chosen.findLast((other) => other.concept)?.concept ?? "";
    this.chosen.push(one);
    this.#show();
    if (one.concept) this.tree.reveal(one.concept);
    this.changed();
  }

  #remove(one) {
    this.chosen = this.chosen.filter((other) => other !== one);
    this.#show();
    byId("word").focus();
    this.changed();
  }

  #toggle(branch, isChosen) {
    const { concept, label } = branch;
    this.chosen = this.chosen.filter((one) => one.concept !== concept);
    if (isChosen) this.chosen.push({ concept, label });
    this.#show();
    this.changed();
  }

  // The chosen

  #show() {
    byId("chosen").replaceChildren(...this.chosen.map((one) => this.#chip(one)));
    byId("none-chosen").hidden = this.chosen.length > 0;
    this.tree.choose(this.chosen.flatMap((one) => one.concept ?? []));
  }

  #chip(one) {
    const name = one.label ?? one.word;
    const gone = element("button", { type: "button", "aria-label": `Remove ${name}` }, "×");
    gone.addEventListener("click", () => this.#remove(one));
    if (one.concept) return element("li", { title: one.concept }, name, gone);
    return element("li", { class: "new" }, `${name} (new), a kind of`, this.#parent(one), gone);
  }

  // What a new word is put under: one of the chosen, or of the tops.
  #parent(one) {
    const known = this.chosen.filter((other) => other.concept);
    const tops = [...byId("tree").children].flatMap((item) => item.branch ?? []);
    const all = new Map([...known, ...tops].map(({ concept, label }) => [concept, label]));
    if (one.under && !all.has(one.under)) all.set(one.under, one.underLabel ?? one.under);
    const select = element("select", { "aria-label": `What ${one.word} is a kind of` });
    if (!one.under) select.append(element("option", { value: "" }, "…"));
    for (const [concept, label] of all) select.append(element("option", { value: concept }, label));
    select.value = one.under;
    select.addEventListener("change", () => {
      one.under = select.value;
      this.changed();
    });
    return select;
  }

  // How near

  // What a dry run told of the newest events' scores.
  scored(answer) {
    this.scores = answer && answer.scores.toSorted((a, b) => b.score - a.score);
    this.events = answer?.tried.events ?? 0;
    this.#showNearness();
  }

  #showNearness() {
    const threshold = Number(this.slider.value);
    byId("threshold-said").textContent = threshold.toFixed(2);
    const scores = this.scores ?? [];
    const inside = scores.filter((one) => one.score > threshold);
    const said = this.scores ? `${inside.length.toLocaleString()} of the last ${count(this.events, "event")} would be in.` : "";
    byId("nearness-said").textContent = said;
    this.slider.setAttribute("aria-valuetext", `${threshold.toFixed(2)}. ${said}`);
    byId("scores").replaceChildren(...bars(scores, threshold));
    byId("border").replaceChildren(...border(inside, scores.slice(inside.length), threshold));
  }
}

function bars(scores, threshold) {
  const heights = new Array(BARS).fill(0);
  for (const { score } of scores) heights[Math.min(Math.ceil(score * BARS) - 1, BARS - 1)] += 1;
  const most = Math.max(...heights, 1);
  return heights.flatMap((height, place) => {
    if (!height) return [];
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const tall = Math.max((24 * Math.sqrt(height)) / Math.sqrt(most), 1.5);
    const numbers = { x: (100 * place) / BARS, y: 24 - tall, width: 100 / BARS - 0.3, height: tall };
    for (const [name, value] of Object.entries(numbers)) bar.setAttribute(name, value.toFixed(2));
    if ((place + 1) / BARS > threshold) bar.setAttribute("class", "in");
    return [bar];
  });
}

// Those that are just in, and those that are just out.
function border(inside, outside, threshold) {
  if (!inside.length && !outside.length) return [];
  const row = (kind) => (one) => {
    const score = element("span", { class: "score" }, one.score.toFixed(2));
    const what = element("span", { class: "what", title: one.event }, one.says || one.event);
    return element("li", { class: kind }, score, what);
  };
  const edge = element("li", { class: "edge" }, outside.length ? `in above, out below ${threshold.toFixed(2)}` : "all are in");
  return [...inside.slice(-BESIDE).map(row("in")), edge, ...outside.slice(0, BESIDE).map(row("out"))];
}

// The box in which concepts are looked for by their words (an editable combobox with a list).
class Words {
  constructor(chosen) {
    Object.assign(this, { chosen, field: byId("word"), list: byId("words"), said: byId("word-said"), place: -1 });
    const look = afterPause(() => this.#look(), 150);
    this.field.addEventListener("input", () => (this.field.value.trim() ? look() : this.#close()));
    this.field.addEventListener("keydown", (event) => this.#key(event));
    this.field.addEventListener("blur", () => this.#close());
    this.list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
    this.list.addEventListener("click", (event) => this.#take(event.target.closest("[role=option]")));
  }

  async #look() {
    const word = this.field.value.trim();
    this.looking?.abort();
    this.looking = new AbortController();
    if (!word) return this.#close();
    const query = new URLSearchParams({ search: word, limit: OFFERED });
    try {
      const found = await ask(`/v1/concepts?${query}`, { signal: this.looking.signal });
      if (word === this.field.value.trim()) this.#offer(word, found);
    } catch (problem) {
      if (problem.name !== "AbortError") this.said.textContent = problem.message;
    }
  }

  #offer(word, { items, misspelt, called }) {
    const options = items.map((one) => this.#option(one, word, misspelt));
    if (!called.length) {
      const fresh = element("li", { role: "option", class: "new" }, `“${word}” is new: propose it as a concept`);
      fresh.meant = { word };
      options.push(fresh);
    }
    options.forEach((option, place) => (option.id = `word-${place}`));
    this.list.replaceChildren(...options);
    this.list.hidden = false;
    this.field.setAttribute("aria-expanded", "true");
    const known = items.filter((one) => called.includes(one.concept)).map((one) => one.label);
    this.said.textContent = known.length
      ? `${word} means ${known.join(" or ")}.`
      : misspelt && items.length ? `No concept is called so. Did you mean ${items[0].label}?` : "No concept is called just so.";
    this.#mark(known.length ? 0 : -1);
  }

  #option(one, word, misspelt) {
    const wanted = word.toLowerCase();
    const other = one.words.find((each) => each.toLowerCase().includes(wanted));
    const option = element("li", { role: "option", title: one.concept }, misspelt ? `Did you mean ${one.label}?` : one.label);
    if (other && other !== one.label) option.append(element("span", { class: "hint" }, `, also called ${other}`));
    option.meant = { concept: one.concept, label: one.label };
    return option;
  }

  #mark(place) {
    this.place = place;
    const options = [...this.list.children];
    options.forEach((option, number) => option.setAttribute("aria-selected", String(number === place)));
    options[place]?.scrollIntoView({ block: "nearest" });
    if (options[place]) this.field.setAttribute("aria-activedescendant", options[place].id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const size = this.list.hidden ? 0 : this.list.childElementCount;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && size) this.#mark((this.place + step + size + (this.place < 0 && step < 0 ? 1 : 0)) % size);
    else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) this.#take(this.list.children[this.place] ?? this.list.children[0]);
    else if (event.key === "Escape" && size) this.#close();
    else return;
    event.preventDefault();
  }

  #take(option) {
    if (!option || this.list.hidden) return;
    this.field.value = "";
    this.said.textContent = "";
    this.#close();
    this.chosen(option.meant);
  }

  #close() {
    this.looking?.abort();
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.#mark(-1);
  }
}
