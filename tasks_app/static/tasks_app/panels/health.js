// <punctual-health>: how the scheduler is, asked of /scheduler/health. Attributes: api (default /api/v1), lang.
// `element.ask = (url, options) => Promise<Response>` replaces fetch, for pages that come in through a server of their own.

import { dress, make } from "./looks.js";
import { ENOUGH, Poller, SLOW_MS } from "./poller.js";
import { languageOf, TEXTS } from "./texts.js";

const LATE_MS = 2000; // tasks that start, or wait, longer than this after they were due are late
const SLOWED_LANE = "low"; // what is throttled first
const PLANNED = "profile"; // of a plan: nothing is wrong
const PATIENCE_MS = 10000;

// What there is to show, from what the poller tells; nothing here knows the page.
export function summary({ phase, failures, last, error, slow = false }, texts) {
  const old = failures >= ENOUGH;
  if (failures > 0) {
    const message = old ? texts.readOnly : texts.failed(failures, words(error));
    return { phase, mood: "bad", message, old, last };
  }
  if (!last) return { phase, mood: slow ? "slow" : "", message: slow ? texts.slow : texts.starting, old: false, last };
  const [mood, message] = slow ? ["slow", texts.slow] : judged(last.data, texts);
  return { phase, mood, message, old, last };
}

// The dot and the words beside it say the same. What is late is throttled only if a safeguard does it.
function judged({ status, triggerDelayP95Ms, oldestOverdueMs, throttledBy = [], lanes = [], problems = [] }, texts) {
  const low = lanes.find((one) => one.lane === SLOWED_LANE)?.safeguard, names = throttledBy.filter((one) => one !== PLANNED);
  if (low && low !== PLANNED) return ["bad", texts.degraded];
  if (names.length) return ["bad", texts.throttled(names.join(", "))];
  if (status === "trouble") return ["bad", texts.trouble(problems[0])];
  return Math.max(triggerDelayP95Ms, oldestOverdueMs) > LATE_MS ? ["bad", texts.late] : ["good", texts.healthy];
}

export function ageOf(last, now, texts) {
  const seconds = Math.max(0, Math.round((now - last.at) / 1000));
  return seconds < 120 ? texts.seconds(seconds) : texts.minutes(Math.floor(seconds / 60));
}

function words(error) {
  return error?.name === "TimeoutError" ? "time-out" : String(error?.message ?? error);
}

// Node has no elements; there only what is above is tested.
const Base = globalThis.HTMLElement ?? class {};

export class HealthPanel extends Base {
  #poller = null;
  #told = { phase: "loading", failures: 0, last: null, error: null };
  #ticking = null;
  #slow = null;
  #parts = null;
  #drawn = []; // the state on the page: drawn again only if there is another, so that focus and scrolling stay
  #onVisibility = () => this.#follow();

  ask = (url, options) => fetch(url, options);

  connectedCallback() {
    this.language = languageOf(this);
    this.texts = TEXTS[this.language];
    if (!this.#parts) this.#build();
    this.#poller = new Poller({ ask: (signal) => this.#read(signal), tell: (told) => this.#show(told) });
    document.addEventListener("visibilitychange", this.#onVisibility);
    this.#show(this.#told);
    this.#follow();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#onVisibility);
    this.#rest();
  }

  // It asks only while somebody can see it.
  #follow() {
    if (document.visibilityState === "hidden") this.#rest();
    else this.#poller.start();
  }

  #rest() {
    this.#poller.stop();
    clearTimeout(this.#slow);
    clearInterval(this.#ticking);
    this.#ticking = null;
  }

  async #read(signal) {
    const api = this.getAttribute("api") ?? "/api/v1";
    const answer = await this.ask(`${api}/scheduler/health`, {
      headers: { Accept: "application/json" },
      cache: "no-store",
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return answer.json();
  }

  #show(told) {
    this.#told = told;
    clearTimeout(this.#slow);
    if (told.phase === "loading") this.#slow = setTimeout(() => this.#draw(true), SLOW_MS);
    // What is old gets older while nobody answers.
    if (told.failures && !this.#ticking) this.#ticking = setInterval(() => this.#drawAge(), 1000);
    if (!told.failures) {
      clearInterval(this.#ticking);
      this.#ticking = null;
    }
    this.#draw(false);
  }

  #build() {
    const root = this.attachShadow({ mode: "open" });
    dress(root);
    const text = make("span");
    this.#parts = {
      panel: make("section", { class: "panel", part: "panel" }),
      text,
      message: make("p", { class: "message", role: "status", part: "message" }, make("span", { class: "dot" }), text),
      age: make("p", { class: "quiet", part: "age" }),
      body: make("div", { part: "state" }),
    };
    const { panel, message, age, body } = this.#parts;
    panel.append(message, age, body);
    root.append(panel);
  }

  #draw(slow) {
    const { panel, text, body } = this.#parts;
    const shown = summary({ ...this.#told, slow }, this.texts);
    this.setAttribute("phase", shown.phase);
    this.toggleAttribute("read-only", shown.old);
    panel.dataset.mood = shown.mood;
    panel.classList.toggle("old", shown.old);
    if (text.textContent !== shown.message) text.textContent = shown.message;
    this.#drawAge();
    const data = shown.last?.data;
    if (this.#drawn[0] === data && this.#drawn[1] === shown.old) return;
    this.#drawn = [data, shown.old];
    body.replaceChildren(...(data ? this.#state(data, shown.old) : []));
  }

  #drawAge() {
    const { last } = this.#told;
    const clock = last && new Intl.DateTimeFormat(this.language, { timeStyle: "medium" }).format(last.at);
    this.#parts.age.textContent = last ? this.texts.asOf(clock, ageOf(last, Date.now(), this.texts)) : this.texts.neverKnown;
  }

  #state(data, old) {
    const texts = this.texts, number = new Intl.NumberFormat(this.language, { maximumFractionDigits: 0 });
    const figure = (label, value) => make("div", {}, make("dt", { text: label }), make("dd", { text: value }));
    const names = ["due", "running", "deadLetters", "beats", "workers", "slots"];
    const parts = [
      make("dl", { class: "figures" },
        figure(texts.delay, data.triggerDelayP95Ms === null ? "–" : `${number.format(data.triggerDelayP95Ms)} ms`),
        figure(texts.oldest, `${number.format(data.oldestOverdueMs)} ms`),
        ...names.map((name) => figure(texts[name], number.format(data[name])))),
    ];
    if (old) return parts;
    for (const kind of ["problems", "notices"]) {
      if (!data[kind].length) continue;
      parts.push(make("h3", { text: texts[kind] }), make("ul", {}, ...data[kind].map((one) => make("li", { text: one }))));
    }
    const cells = (one) => [one.lane, number.format(one.due), number.format(one.tasksRunning), number.format(one.slots)];
    const heads = [texts.lane, texts.due, texts.running, texts.slots];
    parts.push(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": texts.lane },
      make("table", {},
        make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col", text })))),
        make("tbody", {}, ...data.lanes.map((one) => {
          const [lane, ...rest] = cells(one);
          const held = one.rate ? texts.slowed : texts.paused;
          const name = one.paused ? `${lane} (${held})` : lane;
          return make("tr", {}, make("th", { scope: "row", text: name }), ...rest.map((text) => make("td", { text })));
        })))));
    return parts;
  }
}

globalThis.customElements?.define("punctual-health", HealthPanel);
