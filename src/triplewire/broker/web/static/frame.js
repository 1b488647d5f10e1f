// What all pages share. Text is only ever set as text.
//
//   byId, element, filled, drawing    finding, making and filling elements; those of a picture
//   short, content, tellTime, ago, count    terms, events, times and numbers for people
//   ask, Problem               asking the API: a JSON value, or a Problem with the words of the answer
//   say, sayProblem            a word at the foot of the page; showProblem, send: one in a form, under its place
//   confirmed                  "really?", in a dialog
//   Listing                    a list that is read a page at a time, by cursor
//   tabs, afterPause           tabs by mouse and keyboard; not at every key

const CHECK_EVERY = 3000;

export const byId = (id) => document.getElementById(id);

export function short(term) {
  const literal = /^("(?:[^"\\]|\\.)*")(?:\^\^<[^>]*>|(@[-\w]+))?$/s.exec(term);
  if (literal) return literal[1] + (literal[2] || "");
  const local = /^<.*?([^/#:<>]+)[/#]?>$/.exec(term);
  return local ? local[1] : term;
}

export function content(cloudevent) {
  const data = cloudevent.data ?? cloudevent.data_base64 ?? "";
  return typeof data === "string" ? data : JSON.stringify(data, null, 2);
}

// Elements

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(attribute, "");
    else if (value !== false && value != null) made.setAttribute(attribute, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

// A copy of a template, with the text of each [data-field] set; a function is given the element instead.
export function filled(template, fields) {
  const made = template.content.firstElementChild.cloneNode(true);
  for (const place of [made, ...made.querySelectorAll("[data-field]")]) {
    const value = fields[place.dataset.field];
    if (typeof value === "function") value(place);
    else if (value !== undefined) place.textContent = value ?? "";
  }
  return made;
}

// The picture of an SVG text that the server has made.
export function drawing(svg) {
  return document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
}

// Times and numbers

export const count = (number, noun) => `${number.toLocaleString()} ${noun}${number === 1 ? "" : "s"}`;

const STEPS = [[60, "second"], [60, "minute"], [24, "hour"], [7, "day"], [Infinity, "week"]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

// <time datetime class="ago">: how long ago, kept up to date; the time itself is told on hovering.
export function ago(place) {
  const moment = new Date(place.dateTime);
  if (isNaN(moment)) return;
  place.classList.add("ago");
  place.title = moment.toLocaleString();
  let past = Math.max((Date.now() - moment) / 1000, 0);
  for (const [size, unit] of STEPS) {
    if (past < size) {
      place.textContent = unit === "second" ? "just now" : relative.format(-Math.floor(past), unit);
      return;
    }
    past /= size;
  }
}

export function tellTime(element) {
  const moment = new Date(element.dateTime);
  if (isNaN(moment)) return;
  const today = moment.toDateString() === new Date().toDateString();
  element.textContent = today ? moment.toLocaleTimeString() : moment.toLocaleString();
}

// How far the pipeline has got

function showProgress(log, lag) {
  const pill = byId("progress");
  const events = (count) => `${count.toLocaleString()} event${count === 1 ? "" : "s"}`;
  const text = lag ? `${events(lag)} waiting to be matched` : `${events(log)}, all matched`;
  pill.classList.toggle("waiting", lag > 0);
  pill.classList.remove("lost");
  if (pill.textContent !== text) pill.textContent = text;
}

function showLost() {
  const pill = byId("progress");
  pill.textContent = "The broker does not answer";
  pill.classList.add("lost");
}

async function check() {
  if (document.hidden) return;
  try {
    const answer = await fetch("/healthz");
    if (!answer.ok) return showLost();
    const { log, lag } = await answer.json();
    showProgress(log, lag);
    document.dispatchEvent(new CustomEvent("progress"));
  } catch {
    showLost();
  }
}

// Asking the API

export class Problem extends Error {
  constructor(document, status) {
    super(document.detail ?? document.title ?? "The broker does not answer.");
    Object.assign(this, document);
    this.status = status;
    this.detail = this.message;
  }
}

// What the API answers, as a value; a body that is no text is sent as JSON. Whoever is not signed in any more is led
// to the page where they can, and back.
export async function ask(url, { method = "GET", body, type = "application/json", headers = {}, signal } = {}) {
  const sent = { method, signal, headers: { ...headers } };
  if (body !== undefined) {
    sent.headers["Content-Type"] = type;
    sent.body = typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body);
  }
  const answer = await fetch(url, sent).catch((error) => {
    throw error.name === "AbortError" ? error : new Problem({}, 0);
  });
  if (answer.status === 401) signIn();
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get("Content-Type") ?? "");
  const found = isJson && text ? JSON.parse(text) : text;
  if (!answer.ok) throw new Problem(isJson ? found : { detail: answer.statusText }, answer.status);
  return found;
}

function signIn() {
  location.assign(`/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`);
}

byId("sign-out")?.addEventListener("click", async () => {
  try {
    await ask("/v1/session", { method: "DELETE" });
    location.assign("/sign-in");
  } catch (problem) {
    sayProblem(problem);
  }
});

// Words

let unsaid;

export function say(text, isWrong = false) {
  const place = byId("said");
  place.classList.toggle("wrong", isWrong);
  place.textContent = text;
  clearTimeout(unsaid);
  unsaid = setTimeout(() => (place.textContent = ""), isWrong ? 15000 : 6000);
}

export const sayProblem = (problem) => problem.name === "AbortError" || say(problem.detail ?? String(problem), true);

// Whether somebody really means it: confirmed("Delete cheap-computers?", "Its notifications stay.", "Delete").
export function confirmed(title, text, action, isDangerous = true) {
  const heading = element("h2", { id: "confirm-title" }, title);
  const go = element("button", { value: "yes", class: isDangerous ? "danger" : "" }, action);
  const stay = element("button", { value: "", class: "quiet", autofocus: true }, "Cancel");
  const form = element("form", { method: "dialog" }, heading, element("p", {}, text));
  form.append(element("div", { class: "actions" }, stay, go));
  const dialog = element("dialog", { "aria-labelledby": "confirm-title" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    });
  });
}

// A list that is read a page at a time: each item of the answers is made an element of; `more` asks for the next
// page, `empty` is shown where there is none at all.
export class Listing {
  constructor(list, more, empty, made) {
    Object.assign(this, { list, more, empty, made });
    more.addEventListener("click", () => this.next());
  }

  // Begin anew, with another address.
  async show(url) {
    this.reading?.abort();
    this.url = new URL(url, location.href);
    this.cleared = true;
    await this.next();
  }

  async next() {
    const reading = (this.reading = new AbortController());
    this.more.disabled = true;
    try {
      const { items, next } = await ask(this.url, { signal: reading.signal });
      if (this.cleared) this.list.replaceChildren();
      this.cleared = false;
      const added = items.map((item) => this.made(item));
      this.list.append(...added);
      if (next != null) this.url.searchParams.set("after", next);
      this.more.hidden = next == null;
      if (this.empty) this.empty.hidden = this.list.childElementCount > 0;
    } catch (problem) {
      sayProblem(problem);
    } finally {
      if (reading === this.reading) this.more.disabled = false;
    }
  }
}

// Tabs: <div class="tabs" role="tablist" aria-label="…"><button role="tab" aria-controls="ID">; shown(id) is told.
export function tabs(list, shown = () => {}) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  function choose(chosen) {
    for (const tab of all) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
    shown(chosen.getAttribute("aria-controls"));
  }
  list.addEventListener("click", (event) => all.includes(event.target) && choose(event.target));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const place = all.indexOf(event.target);
    if (!step || place < 0) return;
    const chosen = all[(place + step + all.length) % all.length];
    choose(chosen);
    chosen.focus();
  });
  choose(all.find((tab) => tab.getAttribute("aria-selected") === "true") ?? all[0]);
}

// The function, called once nothing has called it for a while.
export function afterPause(called, milliseconds = 250) {
  let waiting;
  return (...values) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => called(...values), milliseconds);
  };
}

// Forms

export function showProblem(form, field, problem) {
  const box = form.querySelector(".error");
  box.hidden = !problem;
  field.setAttribute("aria-invalid", String(Boolean(problem)));
  if (!problem) return;
  box.querySelector("pre").textContent = problem.excerpt ?? "";
  box.querySelector("p").textContent = problem.detail ?? problem.title;
  form.querySelector("output").textContent = "";
  if (problem.line) {
    const before = field.value.split("\n").slice(0, problem.line - 1);
    const start = before.reduce((length, line) => length + line.length + 1, 0) + problem.column - 1;
    field.focus();
    field.setSelectionRange(start, start + 1);
  }
}

export async function send(form, field, url, type, body, said) {
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const answer = await fetch(url, { method: "POST", headers: { "Content-Type": type }, body });
    const found = await answer.json();
    showProblem(form, field, answer.ok ? null : found);
    if (answer.ok) form.querySelector("output").textContent = said(found);
  } catch {
    showProblem(form, field, { detail: "The broker does not answer." });
  } finally {
    button.disabled = false;
  }
}

document.querySelectorAll("time:not(.ago)").forEach(tellTime);
const tellAll = () => document.querySelectorAll("time.ago").forEach(ago);
tellAll();
setInterval(tellAll, 30000);
if (byId("progress")) {
  check();
  setInterval(check, CHECK_EVERY);
  document.addEventListener("visibilitychange", check);
}
