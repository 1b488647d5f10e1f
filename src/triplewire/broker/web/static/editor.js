// A text whose mistake is marked where it is, with the words for it right below. Under the text lies a copy of it,
// letter under letter, which has the mark.

import { element } from "./frame.js";

const MOST_LINES = 24;
const TOKEN = /[^\s()[\]{},;"']+|./y;

export class Editor {
  constructor(field, marks, bubble) {
    Object.assign(this, { field, marks, bubble, problem: null });
    field.addEventListener("input", () => this.show(null));
    field.addEventListener("scroll", () => this.#place());
    document.addEventListener("selectionchange", () => this.#stepAside());
    this.show(null);
  }

  set(text) {
    this.field.value = text;
    this.show(null);
  }

  // Show what a problem says under its place; without a problem, nothing.
  show(problem) {
    this.problem = problem;
    this.field.rows = Math.min(Math.max(this.#lines().length + 3, 8), MOST_LINES);
    this.field.setAttribute("aria-invalid", String(Boolean(problem)));
    this.bubble.hidden = !problem;
    const text = this.field.value;
    if (!problem) return this.marks.replaceChildren(text);
    const [start, end] = this.#range();
    const marked = element("mark", {}, text.slice(start, end).trimEnd() || "\u00a0");
    this.marks.replaceChildren(text.slice(0, start), marked, text.slice(end));
    const said = problem.detail.replace(/^\w+: /, "").replace(/^line \d+, column \d+: /, "");
    this.bubble.replaceChildren(problem.line ? `Line ${problem.line}: ${said}` : said);
    if (problem.nearest && /[\w>]$/.test(text.slice(start, end))) this.bubble.append(" ", this.#mending(start, end));
    this.#place();
  }

  #lines() {
    return this.field.value.split("\n");
  }

  // From where to where the mistake is. Columns count characters, and some characters are two of JavaScript's.
  #range() {
    const { line = 1, column = 1 } = this.problem;
    const lines = this.#lines();
    const before = lines.slice(0, line - 1).reduce((length, one) => length + one.length + 1, 0);
    const within = Array.from(lines[line - 1] ?? "").slice(0, column - 1).join("").length;
    TOKEN.lastIndex = within;
    const token = TOKEN.exec(lines[line - 1] ?? "")?.[0] ?? "";
    return [before + within, before + within + token.length];
  }

  #mending(start, end) {
    const button = element("button", { type: "button", class: "link" }, `Use ${this.problem.nearest}`);
    button.addEventListener("click", () => {
      this.field.setRangeText(this.problem.nearest, start, end, "end");
      this.field.focus();
      this.field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    return button;
  }

  #place() {
    this.marks.scrollTo(this.field.scrollLeft, this.field.scrollTop);
    const mark = this.marks.querySelector("mark");
    if (!mark || this.bubble.hidden) return;
    const left = Math.max(mark.offsetLeft - this.field.scrollLeft, 4);
    const right = this.field.clientWidth - this.bubble.offsetWidth - 4;
    this.bubble.style.left = `${Math.max(Math.min(left, right), 4)}px`;
    this.bubble.style.top = `${mark.offsetTop + mark.offsetHeight - this.field.scrollTop}px`;
    this.#stepAside();
  }

  // Whoever writes in the lines below wants to see them.
  #stepAside() {
    if (this.bubble.hidden) return;
    const at = this.field.value.slice(0, this.field.selectionStart).split("\n").length;
    const isBelow = document.activeElement === this.field && at > (this.problem.line ?? 1);
    this.bubble.classList.toggle("aside", isBelow && at <= (this.problem.line ?? 1) + 3);
  }
}
