// Choosing an event and a subscription; the page that is asked for tells the rest.

import { byId } from "./frame.js";

const form = byId("choose");
const { subscription, position } = form.elements;

function address(place) {
  return `/notifications/why-not?${new URLSearchParams({ subscription: subscription.value.trim(), position: place })}`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!subscription.value.trim()) subscription.focus();
  else if (!position.value) position.focus();
  else location.assign(address(position.value));
});
document.querySelector(".choose").addEventListener("click", (event) => {
  const place = event.target.dataset.position;
  if (!place) return;
  event.preventDefault();
  position.value = place;
  if (subscription.value.trim()) location.assign(address(place));
  else subscription.focus();
});
