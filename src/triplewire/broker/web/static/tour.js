// The tour: subscribes, publishes, and shows the notification and why it came. What it does are plain calls of the API.

import { ask, byId } from "./frame.js";

const HIDDEN = "triplewire-tour-hidden";
const tour = byId("tour");

let subscription;
let publishedAt;

const step = (name) => byId(`tour-${name}`);
const button = (name) => step(name).querySelector("button");

function came(name, text) {
  step(name).querySelector(".came").textContent = text;
}

function done(name, text) {
  step(name).classList.add("done");
  button(name).hidden = true;
  came(name, text);
}

async function attempt(button, act) {
  const problem = byId("tour-problem");
  problem.hidden = true;
  button.disabled = true;
  try {
    await act();
  } catch (error) {
    button.disabled = false;
    problem.textContent = error.detail ?? String(error);
    problem.hidden = false;
  }
}

async function subscribe() {
  const pattern = byId("tour-pattern");
  const rows = pattern.dataset.prefixes.trim().split("\n").map((row) => row.split(": "));
  const body = {
    id: `tour-${Date.now().toString(36)}`,
    language: "ops",
    pattern: pattern.textContent,
    prefixes: Object.fromEntries(rows),
  };
  subscription = await ask("/v1/subscriptions", { method: "POST", body });
  done("subscribe", `You have the subscription ${subscription.id}, for the events after position ${subscription.since}.`);
  button("publish").disabled = false;
  button("publish").focus();
}

async function publish() {
  const body = byId("tour-event").textContent;
  publishedAt = performance.now();
  const receipt = await ask("/v1/events", { method: "POST", body, type: "text/turtle" });
  done("publish", `It is kept at position ${receipt.position} of the event log, and on its way through the pipeline.`);
  if (!step("hear").classList.contains("done")) came("hear", "Waiting for the pipeline …");
  step("hear").focus();
}

async function hear(notification) {
  if (notification.subscription !== subscription?.id || step("hear").classList.contains("done")) return;
  const seconds = Math.max((performance.now() - publishedAt) / 1000, 0.1).toFixed(1);
  done("hear", `You were told after ${seconds} seconds: ${notification.subscription} was tripped by ${notification.event}.`);
  const remove = button("hear");
  remove.hidden = false;
  const why = byId("tour-why");
  const answer = await fetch(notification.explanation, { headers: { Accept: "text/plain" } });
  if (!answer.ok) return;
  why.textContent = await answer.text();
  why.hidden = false;
}

async function remove() {
  await ask(`/v1/subscriptions/${encodeURIComponent(subscription.id)}`, { method: "DELETE" });
  came("hear", "The subscription is gone; its notification stays with your others.");
  button("hear").hidden = true;
}

function show(isShown) {
  tour.hidden = !isShown;
  byId("show-tour").hidden = isShown;
}

function remember(isHidden) {
  if (isHidden) localStorage.setItem(HIDDEN, "yes");
  else localStorage.removeItem(HIDDEN);
  show(!isHidden);
  byId(isHidden ? "show-tour" : "hide-tour").focus();
}

if (tour) {
  button("subscribe").addEventListener("click", (event) => attempt(event.target, subscribe));
  button("publish").addEventListener("click", (event) => attempt(event.target, publish));
  button("hear").addEventListener("click", (event) => attempt(event.target, remove));
  byId("hide-tour").addEventListener("click", () => remember(true));
  byId("show-tour").addEventListener("click", () => remember(false));
  document.addEventListener("notification", (event) => hear(event.detail));
  show(localStorage.getItem(HIDDEN) === null);
}
