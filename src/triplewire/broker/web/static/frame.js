// What all pages share: how far the pipeline has got, times and terms for people, asking the API. Text is only ever
// set as text.

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

document.querySelectorAll("time").forEach(tellTime);
check();
setInterval(check, CHECK_EVERY);
document.addEventListener("visibilitychange", check);
