// What a job would be like while somebody types it: asks the server when they pause, and shows its times and the load.

import { make } from "./looks.js";

const SVG = "http://www.w3.org/2000/svg";
const PAUSE_MS = 300;
const WIDTH = 480, HEIGHT = 60;

// Asks once nobody has typed for a moment; an answer to what was typed before is not shown any more.
export class Drafting {
  #timer = null;
  #asking = null;
  #ask;
  #show;
  #clock;

  constructor({ ask, show, clock = globalThis }) {
    [this.#ask, this.#show, this.#clock] = [ask, show, clock];
  }

  changed() {
    this.stop();
    this.#timer = this.#clock.setTimeout(() => this.#look(), PAUSE_MS);
  }

  stop() {
    this.#clock.clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#asking = null;
  }

  async #look() {
    const asking = (this.#asking = new AbortController());
    let found = null;
    try {
      found = await this.#ask(asking.signal);
    } catch {
      found = null;
    }
    if (this.#asking === asking) this.#show(found);
  }
}

// Elements that tell a draft; `onJitter(seconds)` is called when somebody takes the advice.
export function told(draft, { texts, language, zone, onJitter }) {
  if (draft === null) return [make("p", { class: "quiet", text: texts.noPreview })];
  if (draft.words === null) return [];
  const parts = [make("p", { text: draft.words }), make("h3", { text: texts.nextTimes })];
  const lines = draft.times.map((one) => make("li", {}, make("time", { datetime: one.at, text: timeIn(one, language, zone) })));
  parts.push(lines.length ? make("ol", {}, ...lines) : make("p", { text: texts.never }));
  parts.push(...draft.falls_out.map((one) => make("p", { class: "quiet", text: one.words })));
  if (draft.day) parts.push(make("h3", { text: texts.load }), ...load(draft.day, texts, language));
  if (draft.advice) {
    const { firings, at, jitter } = draft.advice;
    const advice = make("p", { class: "told bad", role: "status", text: texts.peak(firings.toLocaleString(language), clockOf(at, language)) });
    if (jitter !== null) {
      const button = make("button", { type: "button", text: texts.useJitter(jitter) });
      button.addEventListener("click", () => onJitter(jitter));
      advice.append(" ", button);
    }
    parts.push(advice);
  }
  return parts;
}

// The server says it in English, in the zone of the job; other languages have their own way to write a time.
function timeIn(one, language, zone) {
  if (language === "en") return one.words;
  try {
    return new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long", timeZone: zone }).format(new Date(one.at));
  } catch {
    return one.words;
  }
}

function clockOf(at, language) {
  return `${new Intl.DateTimeFormat(language, { timeStyle: "short", timeZone: "UTC" }).format(new Date(at))} UTC`;
}

function load(day, texts, language) {
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const most = Math.max(...day.others), step = day.others.indexOf(most);
  const time = clockOf(Date.parse(day.begins) + step * day.step_minutes * 60000, language);
  const own = day.own.reduce((sum, one) => sum + one, 0);
  const capacity = day.capacity_per_minute;
  const says = texts.loadSays(number.format(most), time, number.format(own));
  const limit = capacity === null ? texts.capacityUnknown : texts.capacitySays(number.format(capacity));
  return [strip(day, `${says} ${limit}`), make("p", { class: "quiet", text: `${says} ${limit}` })];
}

function strip(day, label) {
  const { others, own, capacity_per_minute: capacity } = day;
  const busiest = Math.max(1, ...others);
  // A capacity far above the bars would make them invisible.
  const shown = capacity !== null && capacity <= 3 * busiest ? capacity : null;
  const top = Math.max(busiest, shown ?? 0), width = WIDTH / others.length;
  const svg = drawn("svg", { class: "day", viewBox: `0 0 ${WIDTH} ${HEIGHT + 8}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  others.forEach((count, place) => {
    const height = count ? Math.max(1.5, (count / top) * HEIGHT) : 0;
    svg.append(drawn("rect", { class: "others", x: place * width, y: HEIGHT - height, width: width - 0.5, height }));
    if (own[place]) svg.append(drawn("rect", { class: "own", x: place * width, y: HEIGHT + 2, width: width - 0.5, height: 6 }));
  });
  if (shown !== null) svg.append(drawn("path", { class: "capacity", d: `M0 ${HEIGHT - (shown / top) * HEIGHT}h${WIDTH}` }));
  return svg;
}

function drawn(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// Which errors to show: those of fields that somebody has filled in or left again, not of those they have yet to reach.
export function worthShowing(errors, valueOf, touched) {
  return errors.filter(({ field }) => field !== null && (touched.has(field) || valueOf(field) !== ""));
}
