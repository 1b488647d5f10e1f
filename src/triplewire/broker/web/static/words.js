// The words that were added: add one, take one back.

import { afterPause, ask, byId, confirmed, say, sayProblem, showProblem } from "/static/frame.js";
import { changes, offer } from "/static/changes.js";

const form = byId("add");

function asked() {
  const body = { concept: form.concept.value, word: form.word.value };
  for (const name of ["language", "reason"]) if (form[name].value) body[name] = form[name].value;
  return body;
}

async function send(dryRun) {
  if (!form.reportValidity()) return;
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  try {
    const told = await ask(`/v1/synonyms${dryRun ? "?dry-run=true" : ""}`, { method: "POST", body: asked() });
    showProblem(form, form.concept, null);
    if (dryRun) return byId("changes").replaceChildren(changes(told));
    location.reload();
  } catch (problem) {
    byId("changes").replaceChildren();
    showProblem(form, problem.status === 400 ? form.word : form.concept, problem);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

async function remove(row) {
  const { concept, word, language } = row.dataset;
  const text = "For the events to come it does not mean that any more. Interests that use it may not be understood.";
  if (!(await confirmed(`Remove ${word}?`, text, "Remove"))) return;
  const query = new URLSearchParams({ concept, word });
  if (language) query.set("language", language);
  try {
    await ask(`/v1/synonyms?${query}`, { method: "DELETE" });
    row.remove();
    say(`${word} was removed.`);
  } catch (problem) {
    sayProblem(problem);
  }
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(false);
  });
  byId("try").addEventListener("click", () => send(true));
  form.concept.addEventListener("input", afterPause(() => offer(byId("concepts"), form.concept.value, ask).catch(() => {})));
}
byId("words")?.addEventListener("click", (event) => {
  if (event.target.matches("button")) remove(event.target.closest("tr"));
});
