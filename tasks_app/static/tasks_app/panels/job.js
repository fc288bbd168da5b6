// <punctual-job>: a form for a new job, sent to /jobs. Attributes: api (default /api/v1), lang, csrf-token (else the cookie
// csrftoken). `element.ask = (url, options) => Promise<Response>` replaces fetch. When a job was created, the element
// dispatches `punctual-created` with it as its detail.

import { Drafting, told, worthShowing } from "./draft.js";
import { dress, make } from "./looks.js";
import { noticing } from "./poller.js";
import { createJob, KeptKey, tabStorage } from "./sending.js";
import { languageOf, TEXTS } from "./texts.js";

const CALLBACK = "HTTP_CALLBACK";
const METHODS = ["POST", "GET", "PUT", "PATCH", "DELETE"];
const LANES = ["critical", "high", "default", "low", "deferred", "backfill"];
const WHEN = ["cron", "every", "at"];

const SIGN = "callbacks"; // the secret that signs, unless another is named
const WITH_BODY = ["POST", "PUT", "PATCH"];

// The body that a form's values make; what is empty is left out. What can't be read is thrown as {field, text, detail}, with
// the name of the text that says so.
export function bodyOf(values) {
  const body = {};
  for (const name of ["name", "task_type", "lane"]) if (values[name]) body[name] = values[name];
  if (values.task_type === CALLBACK) body.payload = callOf(values);
  else if (values.payload?.trim()) body.payload = readJson("payload", values.payload);
  const when = WHEN.includes(values.when) ? values.when : "cron";
  if (values[when]) body[when] = when === "every" ? Number(values.every) : when === "at" ? instant(values.at) : values.cron;
  if (values.timezone && when !== "at") body.timezone = values.timezone;
  for (const name of ["max_retry", "jitter"]) {
    if (values[name] !== undefined && values[name] !== "") body[name] = Number(values[name]);
  }
  return body;
}

function callOf({ url = "", method, headers = "", body = "", timeout = "", sign = SIGN }) {
  const call = { url, method: method || "POST" }, lines = headers.split("\n").map((one) => one.trim()).filter(Boolean);
  if (lines.length) call.headers = Object.fromEntries(lines.map(headerOf));
  if (body.trim() && WITH_BODY.includes(call.method)) {
    if (/^\s*[[{]/.test(body)) call.json = readJson("body", body);
    else call.text = body;
  }
  if (timeout !== "") call.timeout = Number(timeout);
  if (sign !== SIGN) call.sign = sign;
  return call;
}

function headerOf(line) {
  const colon = line.indexOf(":");
  if (colon < 1) throw { field: "headers", text: "notHeader", detail: line };
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

function readJson(field, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw { field, text: "notJson", detail: error.message };
  }
}

// What somebody typed is the time of their own clock.
function instant(typed) {
  const at = new Date(typed);
  return Number.isNaN(at.getTime()) ? typed : at.toISOString();
}

const Base = globalThis.HTMLElement ?? class {};

export class JobPanel extends Base {
  #form = null;
  #touched = new Set();
  #drafting = null;
  #storage = tabStorage();
  #phase = "idle";
  #refused = []; // the errors of the last attempt to create the job: they stay until somebody types

  ask = (url, options) => fetch(url, options);

  connectedCallback() {
    this.language = languageOf(this);
    this.texts = TEXTS[this.language];
    this.api = this.getAttribute("api") ?? "/api/v1";
    if (!this.#form) this.#build();
    this.#drafting = new Drafting({ ask: (signal) => this.#draft(signal), show: (draft) => this.#showDraft(draft) });
    this.#readTypes();
  }

  disconnectedCallback() {
    this.#drafting.stop();
  }

  get values() {
    return Object.fromEntries(new FormData(this.#form));
  }

  #build() {
    const texts = this.texts, root = this.attachShadow({ mode: "open" });
    dress(root);
    const choice = (name, pairs) => make("select", { name, id: name }, ...pairs.map(([value, text]) => make("option", { value, text })));
    const input = (name, more = {}) => make("input", { name, id: name, autocomplete: "off", ...more });
    const lines = (name, more = {}) => make("textarea", { name, id: name, rows: "3", spellcheck: "false", ...more });
    const field = (name, label, control, more = {}) => {
      control.setAttribute("aria-describedby", `${name}-error`);
      const error = make("p", { class: "error", id: `${name}-error`, role: "alert" });
      return make("div", { "data-field": name, ...more }, make("label", { for: name, text: label }), control, error);
    };
    const same = (values) => values.map((one) => [one, one]);
    this.#form = make("form", { novalidate: "" },
      field("name", texts.name, input("name", { maxlength: "150" })),
      field("task_type", texts.type, choice("task_type", [["", texts.chooseType]])),
      field("url", texts.url, input("url", { type: "url", placeholder: "https://" })),
      field("method", texts.method, choice("method", same(METHODS))),
      field("timeout", texts.timeout, input("timeout", { type: "number", min: "0", step: "any", placeholder: "5" })),
      field("sign", texts.sign, input("sign", { value: SIGN })),
      field("headers", texts.headers, lines("headers", { placeholder: "X-Source: shop" }), { class: "whole" }),
      field("body", texts.body, lines("body"), { class: "whole" }),
      field("payload", texts.payload, lines("payload"), { class: "whole" }),
      field("when", texts.when, choice("when", WHEN.map((one) => [one, texts[one]]))),
      field("cron", texts.cron, input("cron", { placeholder: "0 9 * * MON-FRI" })),
      field("every", texts.every, input("every", { type: "number", min: "1" })),
      field("at", texts.at, input("at", { type: "datetime-local", step: "1" })),
      field("timezone", texts.timezone, input("timezone", { value: Intl.DateTimeFormat().resolvedOptions().timeZone })),
      field("lane", texts.lane, choice("lane", [["", texts.laneOfType], ...same(LANES)])),
      field("max_retry", texts.retries, input("max_retry", { type: "number", min: "0" })),
      field("jitter", texts.jitter, input("jitter", { type: "number", min: "0" })),
      make("div", { class: "whole", id: "preview" }),
      make("p", { class: "told whole", id: "outcome", role: "status", hidden: "" }),
      make("p", { class: "whole" }, make("button", { class: "main", id: "send", text: texts.create })));
    root.append(make("section", { class: "panel", part: "panel" }, this.#form));
    this.#restore();
    this.#form.addEventListener("submit", (event) => { event.preventDefault(); this.#send(); });
    this.#form.addEventListener("input", () => this.#typed());
    this.#form.addEventListener("focusout", (event) => { if (event.target.name) this.#touched.add(event.target.name); });
    this.#arrange();
    this.#tellPhase("idle");
  }

  // Only what belongs to the chosen type and the chosen way of saying when.
  #arrange() {
    const { task_type: type, when, method } = this.values, calls = type === CALLBACK;
    const hide = { payload: calls, body: !calls || !WITH_BODY.includes(method), timezone: when === "at" };
    for (const one of ["url", "method", "headers", "timeout", "sign"]) hide[one] = !calls;
    for (const one of WHEN) hide[one] = one !== when;
    for (const [name, hidden] of Object.entries(hide)) this.#part(`[data-field="${name}"]`).hidden = hidden;
  }

  #part(selector) {
    return this.#form.querySelector(selector);
  }

  #typed() {
    this.#arrange();
    this.#storage.setItem(this.#place("draft"), JSON.stringify(this.values));
    if (this.#phase !== "loading") this.#tellPhase("idle");
    this.#part("#outcome").hidden = true;
    this.#refused = [];
    this.#drafting.changed();
  }

  #place(what) {
    return `punctual-job-${what}:${this.api}`;
  }

  // What was typed before a reload.
  #restore() {
    try {
      for (const [name, value] of Object.entries(JSON.parse(this.#storage.getItem(this.#place("draft"))) ?? {})) {
        if (name === "task_type" && value) this.#part("#task_type").append(make("option", { value, text: value }));
        if (this.#form.elements[name]) this.#form.elements[name].value = value;
      }
    } catch {
      // Somebody else's, or nothing.
    }
  }

  async #readTypes() {
    const select = this.#part("#task_type"), chosen = select.value, told = this.#part("#task_type-error");
    try {
      const asked = this.ask(`${this.api}/task-types`, { headers: { Accept: "application/json" } });
      const answer = await noticing(asked, () => { told.textContent = this.texts.slow; });
      if (told.textContent === this.texts.slow) told.textContent = "";
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const { items } = await answer.json();
      const options = items.map(({ name }) => make("option", { value: name, text: name === CALLBACK ? `${this.texts.callback} (${name})` : name }));
      select.replaceChildren(make("option", { value: "", text: this.texts.chooseType }), ...options);
      select.value = chosen;
      if (chosen || this.values.cron) this.#drafting.changed();
    } catch (error) {
      this.#fieldErrors([{ field: "task_type", detail: this.texts.network(String(error)) }]);
    }
    this.#arrange();
  }

  async #draft(signal) {
    const values = this.values;
    let body;
    try {
      body = bodyOf(values);
    } catch ({ field }) {
      body = bodyOf({ ...values, [field]: "" });
    }
    const answer = await this.ask(`${this.api}/jobs/preview`, {
      method: "POST", headers: this.#headers(), body: JSON.stringify(body), signal,
    });
    const found = await answer.json();
    if (answer.ok) return found;
    if (found.errors) return { words: null, errors: found.errors };
    throw new Error(`HTTP ${answer.status}`);
  }

  #showDraft(draft) {
    const { timezone: zone } = this.values;
    const onJitter = (seconds) => { this.#form.elements.jitter.value = seconds; this.#typed(); };
    this.#part("#preview").replaceChildren(...told(draft, { texts: this.texts, language: this.language, zone, onJitter }));
    const valueOf = (field) => this.#form.elements[field]?.value ?? "";
    this.#fieldErrors([...worthShowing(draft?.errors ?? [], valueOf, this.#touched), ...this.#refused]);
  }

  async #send() {
    if (this.#phase === "loading" || this.#phase === "done") return;
    let values;
    try {
      values = bodyOf(this.values);
    } catch ({ field, text, detail }) {
      this.#fieldErrors((this.#refused = [{ field, detail: this.texts[text](detail) }]));
      this.#form.elements[field].focus();
      return this.#tellPhase("error");
    }
    this.#tellPhase("loading");
    this.#fieldErrors((this.#refused = []));
    const kept = new KeptKey(this.#storage, this.#place("key"));
    const ask = (url, options) => this.ask(url, options);
    const sent = createJob({ ask, url: `${this.api}/jobs`, values, headers: this.#headers(), kept });
    const became = await noticing(sent, () => this.#say(this.texts.slow, false));
    if (became.job) this.#created(became.job);
    else this.#failed(became);
  }

  #created(job) {
    this.#storage.removeItem(this.#place("draft"));
    this.#tellPhase("done");
    this.#say(this.texts.createdAs(job.name, job.id), false);
    this.dispatchEvent(new CustomEvent("punctual-created", { detail: job, bubbles: true, composed: true }));
  }

  #failed({ problem, network }) {
    this.#tellPhase("error");
    if (network !== undefined) return this.#say(`${this.texts.network(network)} ${this.texts.tryAgain}`, true);
    const placed = (problem.errors ?? []).filter(({ field }) => this.#part(`[data-field="${field}"]:not([hidden])`));
    this.#fieldErrors((this.#refused = placed));
    this.#say(this.texts.refused(problem.detail), true);
    if (placed.length) this.#form.elements[placed[0].field].focus();
  }

  #say(text, bad) {
    const outcome = this.#part("#outcome");
    outcome.textContent = text;
    outcome.hidden = false;
    outcome.classList.toggle("bad", bad);
  }

  #fieldErrors(errors) {
    for (const one of this.#form.querySelectorAll(".error")) one.textContent = "";
    for (const one of this.#form.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
    for (const { field, detail } of errors) {
      const error = this.#form.querySelector(`[id="${field}-error"]`);
      if (!error) continue;
      error.textContent = detail;
      this.#form.elements[field]?.setAttribute("aria-invalid", "true");
    }
  }

  #tellPhase(phase) {
    this.#phase = phase;
    this.setAttribute("phase", phase);
    const button = this.#part("#send");
    button.textContent = { loading: this.texts.sending, done: this.texts.done }[phase] ?? this.texts.create;
    button.disabled = phase === "loading" || phase === "done";
  }

  #headers() {
    const token = this.getAttribute("csrf-token") ?? document.cookie.match(/(?:^|;\s*)csrftoken=([^;]+)/)?.[1];
    return { "Content-Type": "application/json", Accept: "application/json", ...(token ? { "X-CSRFToken": token } : {}) };
  }
}

globalThis.customElements?.define("punctual-job", JobPanel);
