// The folded part of the page Subscribe: name, terms and delivery of a record, and what is wrong with them.

import { ask, byId, element } from "./frame.js";

const TERMS = ["throttling", "digest", "duplicates"];
const PLACES = ["url", "to", "expiresAt", "id", "prefixes"];
const SECRET_BYTES = 32;

export class Terms {
  constructor(form) {
    this.form = form;
    this.fields = form.elements;
    for (const radio of this.fields.channel) radio.addEventListener("change", () => this.#showChannel());
    this.#showChannel();
  }

  // What the fields say, as members of a record.
  members() {
    const { fields } = this;
    const found = {};
    if (fields.id.value.trim()) found.id = fields.id.value.trim();
    if (fields.expiresAt.value) found.expiresAt = new Date(fields.expiresAt.value).toISOString();
    if (this.isSent()) {
      for (const name of TERMS) if (fields[name].value) found[name] = isNaN(fields[name].value) ? fields[name].value : Number(fields[name].value);
      if (fields.priority.value) found.priority = Number(fields.priority.value);
    }
    return found;
  }

  // The members that the fields are about; without a place to send it to, the terms of sending are left alone.
  managed() {
    return this.isSent() ? ["expiresAt", "priority", ...TERMS] : ["expiresAt"];
  }

  isSent() {
    return ["webhook", "email"].includes(this.fields.channel.value);
  }

  // Where to send it, with a new secret if one is needed; null for nowhere. `before` is what it is now.
  delivery(before) {
    const { channel, url, to, format, renew } = this.fields;
    if (channel.value === "email") return { channel: "email", to: to.value.trim(), format: format.value };
    if (channel.value !== "webhook") return null;
    const asked = { channel: "webhook", url: url.value.trim(), format: format.value };
    if (before?.channel !== "webhook" || renew.checked) asked.secret = secret();
    return asked;
  }

  show(record) {
    const { fields } = this;
    fields.id.value = record.id;
    fields.id.readOnly = true;
    fields.expiresAt.value = record.expiresAt ? local(record.expiresAt) : "";
    for (const name of [...TERMS, "priority"]) choose(fields[name], record[name]);
    choose(fields.mapping, record.mapping);
    const { channel = "", url = "", to = "", format } = record.delivery ?? {};
    fields.channel.value = channel;
    Object.assign(fields.url, { value: url });
    Object.assign(fields.to, { value: to });
    if (format) choose(fields.format, format);
    fields.renew.checked = false;
    byId("renew").hidden = channel !== "webhook";
    this.#showChannel();
  }

  #showChannel() {
    for (const part of this.form.querySelectorAll("[data-channel]")) {
      part.hidden = !part.dataset.channel.split(" ").includes(this.fields.channel.value);
    }
  }

  // Show a problem at the field that it is about; tells whether it is about one of these.
  problem(problem) {
    for (const name of [...PLACES, "terms", "delivery"]) byId(`${name}-problem`).hidden = true;
    for (const name of PLACES) this.fields[name].removeAttribute("aria-invalid");
    if (!problem) return false;
    const name = this.#place(problem);
    if (!name) return false;
    const place = byId(`${name}-problem`);
    place.hidden = false;
    place.textContent = problem.detail;
    place.closest("details").open = true;
    if (PLACES.includes(name)) {
      this.fields[name].setAttribute("aria-invalid", "true");
      this.fields[name].focus();
    }
    return true;
  }

  #place({ detail, status }) {
    const named = new Set(Array.from(detail.matchAll(/'(\w+)'/g), ([, name]) => name));
    const found = PLACES.find((name) => named.has(name));
    if (found) return found;
    if (status === 409 || /^a subscription's id/.test(detail)) return "id";
    if (/is no prefix with its IRI/.test(detail)) return "prefixes";
    if ([...TERMS, "priority", "state"].some((name) => named.has(name))) return "terms";
    return ["delivery", "secret", "format"].some((name) => named.has(name)) ? "delivery" : null;
  }
}

// A secret as Standard Webhooks has them.
function secret() {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

// A moment as a field for local times has it.
function local(moment) {
  const time = new Date(moment);
  return new Date(time - time.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}

// A choice, also if it is none of those that are offered.
function choose(select, value) {
  const text = String(value ?? "");
  if (![...select.options].some((option) => option.value === text)) select.append(element("option", { value: text }, text));
  select.value = text;
}

// The address of a subscription's feed, with a token of its own in it, if the caller can have one.
export async function feedAddress(id) {
  const address = new URL(`/v1/feeds/atom/${encodeURIComponent(id)}`, location.href);
  const made = await ask("/v1/tokens", { method: "POST", body: { feed: id } }).catch(() => null);
  if (made) address.searchParams.set("token", made.token);
  return address.href;
}
