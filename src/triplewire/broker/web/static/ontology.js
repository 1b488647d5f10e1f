// Browsing: the tree, searching, and what is known of the term that is chosen.

import { afterPause, ago, ask, byId, confirmed, count, element, say, sayProblem } from "/static/frame.js";
import { Tree } from "/static/tree.js";

const RESULTS = 20;
const CHILDREN = 12;

const browse = document.querySelector(".browse");
let term = null;
let tree = null;

const kind = () => byId("kind").value;

function address(iri) {
  return `/ontology?${new URLSearchParams({ concept: iri, kind: kind() })}`;
}

// A link to a term that is followed without leaving the page.
function link(iri, text) {
  return element("a", { href: address(iri), "data-concept": iri, title: iri }, text);
}

async function show(iri, { reveal = true, push = true, focus = false } = {}) {
  try {
    const told = await ask(`/v1/concepts/details?${new URLSearchParams({ of: iri })}`);
    if (!(kind() in told.hierarchies)) await change(Object.keys(told.hierarchies).at(-1));
    term = told;
    fill();
    if (push) history.pushState({}, "", address(iri));
    const place = told.hierarchies[kind()].concept;
    await Promise.all([draw(), children(), reveal ? tree.reveal(place) : null]);
    if (focus) byId("term-title").focus();
  } catch (problem) {
    sayProblem(problem);
  }
}

async function change(wanted) {
  if (kind() === wanted) return;
  byId("kind").value = wanted;
  await tree.show(wanted);
}

function fill() {
  const place = term.hierarchies[kind()];
  byId("nothing").hidden = true;
  byId("term").hidden = false;
  byId("term-title").textContent = term.label;
  byId("term-iri").textContent = term.concept;
  byId("definitions").replaceChildren(
    ...term.definitions.slice(0, 3).map((one) => element("p", { lang: one.language }, one.text)),
  );
  byId("words").replaceChildren(...term.words.map(chip));
  const links = (places) => (places.length ? places.map((one) => element("li", {}, link(one.concept, one.label))) : null);
  fillList("above", links(place.parents), "nothing: it is at the top");
  fillList("same", links([place.concept, ...place.same].filter((iri) => iri !== term.concept).map((iri) => ({ concept: iri, label: iri }))), null);
  fillList("below", null, place.children ? count(place.children, "term") : "nothing");
  const { count: number, complete } = term.subscriptions;
  byId("yours").replaceChildren(
    `${complete ? "" : "at least "}${number ? count(number, "subscription") : "no subscription"} of yours ${number > 1 ? "name" : "names"} it. `,
    element("a", { href: `/subscribe?${new URLSearchParams({ concept: term.concept })}` }, "Subscribe to it"),
  );
  statements();
}

// The first of what is below it; the tree and the picture have the rest.
async function children() {
  const place = term.hierarchies[kind()];
  if (!place.children) return;
  const query = new URLSearchParams({ of: place.concept, kind: kind(), limit: CHILDREN });
  const { items } = await ask(`/v1/concepts/children?${query}`);
  const rest = place.children - items.length;
  const rows = items.map((one) => element("li", {}, link(one.concept, one.label)));
  fillList("below", rest ? [...rows, element("li", { class: "hint" }, `and ${rest.toLocaleString()} more`)] : rows);
}

function fillList(id, items, otherwise) {
  const place = byId(id);
  const hidden = !items && !otherwise;
  place.hidden = place.previousElementSibling.hidden = hidden;
  place.replaceChildren(items ? element("ul", {}, ...items) : otherwise ?? "");
}

function chip(one) {
  const item = element("li", { lang: one.language }, one.word);
  if (one.language) item.append(" ", element("span", { class: "tag" }, one.language));
  if (one.version) {
    const when = element("time", { datetime: one.created });
    ago(when);
    item.append(element("span", { class: "hint", lang: "en" }, ` by ${one.author}, `, when));
  }
  if (one.version && browse.dataset.may === "true") {
    const button = element("button", { type: "button", class: "link", "aria-label": `Remove the word ${one.word}` }, "×");
    button.addEventListener("click", () => removeWord(one));
    item.append(" ", button);
  }
  return item;
}

function statements() {
  const box = byId("statements");
  box.hidden = !term.statements.length;
  const more = term.all_statements > term.statements.length ? `, ${term.statements.length} of them here` : "";
  box.querySelector("summary").textContent = `${count(term.all_statements, "statement")} on what has which property${more}`;
  const cell = (part) => element("td", {}, part.concept === term.concept ? part.label : link(part.concept, part.label));
  box.querySelector("tbody").replaceChildren(
    ...term.statements.map((one) => element("tr", {}, cell(one.subject), cell(one.property), cell(one.object))),
  );
}

// The picture is an SVG document of ours; as a part of the page its boxes can be followed.
async function draw() {
  const query = new URLSearchParams({ of: term.concept, kind: kind(), up: byId("up").value, down: byId("down").value });
  const text = await ask(`/v1/concepts/picture?${query}`);
  const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  byId("picture").replaceChildren(document.importNode(drawn, true));
  const home = byId("picture").querySelector(".home");
  const box = byId("picture");
  if (home) box.scrollLeft = home.getBoundingClientRect().left - box.getBoundingClientRect().left - box.clientWidth / 3;
}

async function addWord(event) {
  event.preventDefault();
  const form = event.target;
  const body = { concept: term.concept, word: form.word.value };
  if (form.language.value) body.language = form.language.value;
  try {
    await ask("/v1/synonyms", { method: "POST", body });
    form.reset();
    say(`${term.label} is also called ${body.word} from now on.`);
    await show(term.concept, { push: false, reveal: false });
  } catch (problem) {
    sayProblem(problem);
  }
}

async function removeWord(one) {
  const text = `For the events to come, ${term.label} is not called that any more. Interests that use the word may not be understood.`;
  if (!(await confirmed(`Remove ${one.word}?`, text, "Remove"))) return;
  const query = new URLSearchParams({ concept: term.concept, word: one.word });
  if (one.language) query.set("language", one.language);
  try {
    await ask(`/v1/synonyms?${query}`, { method: "DELETE" });
    say(`${one.word} was removed.`);
    await show(term.concept, { push: false, reveal: false });
  } catch (problem) {
    sayProblem(problem);
  }
}

// Searching

async function search() {
  const text = byId("search").value.trim();
  byId("tree").hidden = Boolean(text);
  byId("results").hidden = !text;
  byId("found").textContent = "";
  byId("more-results").parentElement.hidden = true;
  if (!text) return;
  byId("results").replaceChildren();
  await more(`/v1/concepts?${new URLSearchParams({ search: text, kind: kind(), limit: RESULTS })}`, text);
}

async function more(url, text) {
  try {
    const { items, next, misspelt } = await ask(url);
    if (byId("search").value.trim() !== text) return; // somebody has typed on
    byId("results").append(...items.map((one) => result(one, text)));
    const shown = byId("results").childElementCount;
    const many = next === null ? count(shown, "term") : `the first ${shown} terms`;
    byId("found").textContent = !shown ? `Nothing is called ${text}, or nearly so.` : misspelt ? `Nothing is called ${text}. Is it one of these?` : `Found: ${many}.`;
    byId("more-results").parentElement.hidden = next === null;
    byId("more-results").onclick = () => {
      const following = new URL(url, location.href);
      following.searchParams.set("after", next);
      more(following, text);
    };
  } catch (problem) {
    sayProblem(problem);
  }
}

function result(one, text) {
  const wanted = text.toLowerCase();
  const other = one.words.find((word) => word !== one.label && word.toLowerCase().includes(wanted));
  const because = !one.label.toLowerCase().includes(wanted) && other;
  return element("li", {}, link(one.concept, one.label), because ? element("span", { class: "hint" }, ` also called ${because}`) : null);
}

// The page

function begin() {
  const asked = new URLSearchParams(location.search);
  if (asked.get("kind")) byId("kind").value = asked.get("kind");
  tree = new Tree(byId("tree"), { kind: kind(), chosen: (branch) => show(branch.concept, { reveal: false }) });
  if (asked.get("concept")) tree.ready.then(() => show(asked.get("concept"), { push: false }));
  byId("search").addEventListener("input", afterPause(search));
  byId("kind").addEventListener("change", async () => {
    await tree.show(kind());
    await search();
    if (term && kind() in term.hierarchies) show(term.concept);
  });
  for (const id of ["up", "down"]) byId(id).addEventListener("change", () => draw().catch(sayProblem));
  byId("add-word")?.addEventListener("submit", addWord);
  browse.addEventListener("click", (event) => {
    const anchor = event.target.closest("a[data-concept], #picture a");
    if (!anchor || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const iri = anchor.dataset.concept ?? new URLSearchParams(anchor.getAttribute("href").split("?")[1]).get("concept");
    show(iri, { focus: true });
  });
  addEventListener("popstate", () => {
    const iri = new URLSearchParams(location.search).get("concept");
    if (iri) show(iri, { push: false });
  });
}

if (browse) begin();
