// Signs in with a password or a token, and goes on to the page that was asked for.

import { byId, showProblem, tabs } from "./frame.js";

const box = byId("sign-in");
const onwards = box.dataset.onwards;

async function onSubmit(event) {
  event.preventDefault();
  const form = event.target;
  const field = form.querySelector("input[type=password]");
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const body = JSON.stringify(Object.fromEntries(new FormData(form)));
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch("/v1/session", { method: "POST", headers, body });
    if (answer.ok) return location.replace(onwards);
    showProblem(form, field, await answer.json());
  } catch {
    showProblem(form, field, { detail: "The broker does not answer." });
  } finally {
    button.disabled = false;
  }
  field.focus();
  field.select();
}

// A link on another site comes without the cookie; asked from here, whoever has one is led on.
async function goOnIfSignedIn() {
  const answer = await fetch(location.href, { redirect: "manual" });
  if (answer.type === "opaqueredirect") location.replace(onwards);
}

tabs(box.querySelector(".tabs"));
for (const form of box.querySelectorAll("form")) form.addEventListener("submit", onSubmit);
goOnIfSignedIn();
