// A hierarchy of the ontology as a tree (https://www.w3.org/WAI/ARIA/apg/patterns/treeview/), a branch at a time. What is
// below a term is asked for when it is opened, so that it does not matter how large the ontology is.
//
//   const tree = new Tree(list, { kind: "interests", chosen: (branch) => … });
//   await tree.reveal(iri);
//
// `list` is an empty <ul> with a label. A term with several parents stands under each of them, and says so. With `several`
// many terms may be chosen, each as often as it is clicked the other way round; `tree.choice` is the set of their IRIs.

import { ask, element } from "/static/frame.js";

const PAGE = 100;
const MOST = 1000;

export class Tree {
  constructor(list, { kind = "interests", several = false, chosen = () => {} } = {}) {
    this.list = list;
    this.kind = kind;
    this.several = several;
    this.chosen = chosen;
    this.choice = new Set();
    this.typed = { text: "", until: 0 };
    list.setAttribute("role", "tree");
    list.classList.add("tree");
    if (several) list.setAttribute("aria-multiselectable", "true");
    list.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("click", (event) => this.#click(event));
    this.ready = this.show(kind);
  }

  // Show a hierarchy from its top.
  async show(kind) {
    this.kind = kind;
    this.list.replaceChildren();
    this.list.cursor = null;
    await this.#load(this.list, null);
    const first = this.list.querySelector("[role=treeitem]");
    if (first) first.tabIndex = 0;
  }

  // Open the way to a term, and show it as chosen; tells whether it is there.
  async reveal(iri) {
    const query = new URLSearchParams({ of: iri, kind: this.kind });
    const way = await ask(`/v1/concepts/way?${query}`).catch(() => null);
    if (!way) return false;
    let list = this.list;
    let item = null;
    for (const step of way.items) {
      item = await this.#find(list, step.concept);
      if (!item) return false;
      list = item.querySelector(":scope > ul");
      if (step !== way.items.at(-1)) await this.open(item);
    }
    if (!this.several) this.#mark(item.branch);
    this.#focus(item, false);
    item.firstElementChild.scrollIntoView({ block: "nearest" });
    return true;
  }

  // Choose these terms and no others, without telling.
  choose(iris) {
    this.choice = new Set(iris);
    for (const item of this.#items()) this.#showChoice(item);
  }

  async open(item) {
    if (!item.branch.children || item.getAttribute("aria-expanded") === "true") return;
    item.setAttribute("aria-expanded", "true");
    const list = item.querySelector(":scope > ul");
    list.hidden = false;
    if (!list.children.length) await this.#load(list, item.branch);
  }

  close(item) {
    if (!item.hasAttribute("aria-expanded")) return;
    item.setAttribute("aria-expanded", "false");
    item.querySelector(":scope > ul").hidden = true;
    if (item.contains(document.activeElement) && item !== document.activeElement) this.#focus(item);
  }

  // What is below a term, from where it stopped the last time

  async #load(list, parent, limit = PAGE) {
    const query = new URLSearchParams({ kind: this.kind, limit });
    if (parent) query.set("of", parent.concept);
    if (list.cursor) query.set("after", list.cursor);
    list.setAttribute("aria-busy", "true");
    try {
      const page = await ask(`/v1/concepts/children?${query}`);
      list.querySelector(":scope > .more")?.remove();
      const count = parent ? parent.children : null;
      const before = list.children.length;
      const items = page.items.map((branch, place) => this.#item(branch, parent, before + place + 1, count));
      list.append(...items);
      list.cursor = page.next;
      if (page.next) list.append(this.#more(list, parent, count));
      return items[0];
    } catch (problem) {
      list.append(element("li", { role: "none", class: "hint" }, problem.message));
    } finally {
      list.removeAttribute("aria-busy");
    }
  }

  async #find(list, iri) {
    for (;;) {
      const found = [...list.children].find((item) => item.branch?.concept === iri);
      if (found || !list.cursor) return found;
      if (!(await this.#load(list, list.parentElement.branch ?? null, MOST))) return null;
    }
  }

  #item(branch, parent, place, count) {
    const words = (kind, text) => text && element("span", { class: kind }, text);
    const others = branch.parents.filter((one) => one.concept !== parent?.concept).map((one) => one.label);
    const row = element(
      "span",
      { class: "row", title: branch.concept },
      element("span", { class: "twig", "aria-hidden": "true" }),
      words("label", branch.label),
      words("note", branch.note || null),
      words("count", branch.children ? branch.children.toLocaleString() : null),
      words("note", others.length ? `also under ${others.join(", ")}` : null),
    );
    const placed = { "aria-posinset": place, "aria-setsize": count ?? -1 };
    const item = element("li", { role: "treeitem", tabindex: -1, ...placed }, row);
    item.branch = branch;
    if (branch.children) {
      item.setAttribute("aria-expanded", "false");
      item.append(element("ul", { role: "group", hidden: true }));
    }
    this.#showChoice(item);
    return item;
  }

  #more(list, parent, count) {
    const shown = list.children.length;
    const rest = count ? ` ${Math.min(PAGE, count - shown).toLocaleString()} more of ${count.toLocaleString()}` : " more";
    const row = element("span", { class: "row" }, `Show${rest}`);
    const item = element("li", { role: "treeitem", tabindex: -1, class: "more" }, row);
    item.load = async () => this.#focus((await this.#load(list, parent)) ?? list.lastElementChild);
    return item;
  }

  // Choosing

  #mark(branch) {
    if (this.several) {
      if (!this.choice.delete(branch.concept)) this.choice.add(branch.concept);
    } else {
      this.choice = new Set([branch.concept]);
    }
    for (const item of this.#items()) this.#showChoice(item);
  }

  #showChoice(item) {
    if (item.branch) item.setAttribute("aria-selected", String(this.choice.has(item.branch.concept)));
  }

  #pick(item) {
    if (item.load) return item.load();
    this.#mark(item.branch);
    this.chosen(item.branch, this.choice.has(item.branch.concept));
  }

  // Keyboard and mouse

  #items() {
    return [...this.list.querySelectorAll("[role=treeitem]")];
  }

  #visible() {
    return this.#items().filter((item) => !item.parentElement.closest("[aria-expanded=false]"));
  }

  #focus(item, really = true) {
    for (const other of this.list.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
    item.tabIndex = 0;
    if (really) item.focus();
  }

  #click(event) {
    const row = event.target.closest(".row");
    const item = row?.parentElement;
    if (!item) return;
    this.#focus(item);
    if (!event.target.closest(".twig")) return this.#pick(item);
    return item.getAttribute("aria-expanded") === "true" ? this.close(item) : this.open(item);
  }

  #key(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
    const done = this.#keys(event.key, item);
    if (done !== undefined) event.preventDefault();
  }

  // Everything a key may mean; undefined if it means nothing.
  #keys(key, item) {
    const visible = this.#visible();
    const go = (other) => (other ? this.#focus(other) : undefined) ?? null;
    const open = item.getAttribute("aria-expanded") === "true";
    const parent = item.parentElement.closest("[role=treeitem]");
    switch (key) {
      case "ArrowDown": return go(visible[visible.indexOf(item) + 1]);
      case "ArrowUp": return go(visible[visible.indexOf(item) - 1]);
      case "ArrowRight": return open ? go(item.querySelector("ul > [role=treeitem]")) : (this.open(item), null);
      case "ArrowLeft": return open ? (this.close(item), null) : go(parent);
      case "Home": return go(visible[0]);
      case "End": return go(visible.at(-1));
      case "Enter":
      case " ": return this.#pick(item) ?? null;
      case "*": return [...item.parentElement.children].filter((one) => one.branch).map((one) => this.open(one));
      default: return key.length === 1 ? go(this.#beginning(key, item, visible)) : undefined;
    }
  }

  // The next item that begins with what was typed within a second.
  #beginning(key, item, visible) {
    const now = performance.now();
    this.typed = { text: (now < this.typed.until ? this.typed.text : "") + key.toLowerCase(), until: now + 1000 };
    const { text } = this.typed;
    const from = visible.indexOf(item) + (text.length === 1 ? 1 : 0);
    const order = [...visible.slice(from), ...visible.slice(0, from)];
    return order.find((one) => one.branch?.label.toLowerCase().startsWith(text));
  }
}
