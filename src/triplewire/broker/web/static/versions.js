// The versions: what each changed, the way back, and a new one, checked before it is put.

import { ask, byId, confirmed, count, element, sayProblem, showProblem } from "/static/frame.js";
import { changes, difference, effect } from "/static/changes.js";

const form = byId("put");
let checked = null;

function type(file) {
  const suffixes = JSON.parse(byId("file").dataset.suffixes);
  return suffixes[/\.[^.]*$/.exec(file.name.toLowerCase())?.[0]];
}

async function sent(dryRun) {
  const file = byId("file").files[0];
  const query = new URLSearchParams({ name: file.name });
  if (byId("reason").value) query.set("reason", byId("reason").value);
  if (byId("strict").checked) query.set("strict", "true");
  if (dryRun) query.set("dry-run", "true");
  return ask(`/v1/ontologies?${query}`, { method: "POST", body: file, type: type(file) });
}

async function check(event) {
  event.preventDefault();
  const file = byId("file").files[0];
  if (!type(file)) {
    const known = Object.keys(JSON.parse(byId("file").dataset.suffixes)).join(", ");
    return showProblem(form, byId("file"), { detail: `The suffix of ${file.name} tells nothing of its syntax. It should be one of ${known}.` });
  }
  await busy("Checking …", async () => {
    const told = await sent(true);
    byId("report").replaceChildren(report(told, file));
    checked = file;
    return `Checked ${file.name}. It is not the ontology yet.`;
  });
  byId("activate").disabled = checked !== file;
}

async function activate() {
  await busy("Putting it in place …", async () => {
    const told = await sent(false);
    location.reload();
    return `It is version ${told.version}.`;
  });
}

async function busy(text, done) {
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  form.querySelector("output").textContent = text;
  try {
    const said = await done();
    showProblem(form, byId("file"), null);
    form.querySelector("output").textContent = said;
  } catch (problem) {
    byId("report").replaceChildren();
    showProblem(form, byId("file"), { ...problem, line: undefined });
  } finally {
    byId("check").disabled = false;
    byId("activate").disabled = !checked;
  }
}

function report(told, file) {
  const unused = Object.entries(told.unused);
  const skipped = unused.reduce((sum, [, times]) => sum + times, 0);
  const terms = Object.entries(told.terms).map(([kind, number]) => `${number.toLocaleString()} ${kind}`).join(", ");
  const box = element("div", { class: "report" }, element("h3", {}, `What ${file.name} holds`));
  box.append(element("p", {}, `${count(told.triples, "triple")}, ${told.used.toLocaleString()} of them used: ${terms}. What was learnt is counted with it.`));
  if (skipped) {
    const rows = unused.map(([property, times]) => element("li", {}, `${times.toLocaleString()} × ${property}`));
    box.append(element("details", {}, element("summary", {}, `${count(skipped, "triple")} not used`), element("ul", { class: "code" }, ...rows)));
  }
  for (const cycle of told.cycles) box.append(element("p", { class: "notice wrong" }, cycle));
  for (const missing of told.imports) box.append(element("p", { class: "notice" }, `It imports ${missing}, which is not in it and is not fetched.`));
  box.append(changes(told));
  return box;
}

// What is there already

async function tell(card, button) {
  const { version } = card.dataset;
  const back = button.name === "back";
  const newest = byId("versions").dataset.newest;
  const query = back ? `?against=${newest}` : "";
  button.disabled = true;
  try {
    const [different, noticed] = await Promise.all(["difference", "effect"].map((what) => ask(`/v1/ontologies/${version}/${what}${query}`)));
    const heading = back ? `If version ${version} took the place of version ${newest}` : different.against ? `Against version ${different.against}` : "Against no ontology";
    card.querySelector(".told").replaceChildren(element("h3", {}, heading), difference(different), effect(noticed));
  } catch (problem) {
    sayProblem(problem);
  } finally {
    button.disabled = false;
  }
}

async function restore(card) {
  const { version } = card.dataset;
  const text = "A new version is made that says the same. What was learnt since then, from proposals and as words, is not in it.";
  if (!(await confirmed(`Restore version ${version}?`, text, "Restore"))) return;
  try {
    await ask(`/v1/ontologies/${version}/restore`, { method: "POST", body: {} });
    location.reload();
  } catch (problem) {
    sayProblem(problem);
  }
}

form?.addEventListener("submit", check);
byId("activate")?.addEventListener("click", activate);
byId("file")?.addEventListener("change", () => {
  checked = null;
  byId("activate").disabled = true;
  byId("report").replaceChildren();
  form.querySelector("output").textContent = "";
  showProblem(form, byId("file"), null);
});
byId("versions")?.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const card = button.closest(".card");
  if (button.name === "restore") restore(card);
  else tell(card, button);
});
