// Asks again and again: soon while there are answers, more slowly the longer there are none, never while it is stopped.

export const FIRST_MS = 2000;
export const MOST_MS = 30000;
export const SLOW_MS = 2000; // without an answer for so long, a panel says so
export const ENOUGH = 3; // failures in a row after which only the last good answer is shown

export const pauseAfter = (failures) => Math.min(MOST_MS, FIRST_MS * (failures + 1));

export class Poller {
  #asking = null;
  #timer = null;
  #failures = 0;
  #last = null;
  #ask;
  #tell;
  #clock;

  // `ask(signal)` gives the answer or throws; `tell({phase, failures, last, error})` hears of every change: `phase` is
  // loading, done or error, `last` the last good answer with its time.
  constructor({ ask, tell, clock = globalThis }) {
    [this.#ask, this.#tell, this.#clock] = [ask, tell, clock];
  }

  start() {
    if (!this.#asking && !this.#timer) this.#look();
  }

  stop() {
    this.#clock.clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#timer = this.#asking = null;
  }

  async #look() {
    const asking = (this.#asking = new AbortController());
    this.#timer = null;
    let phase = "loading", error = null;
    this.#tell({ phase, failures: this.#failures, last: this.#last, error });
    try {
      const data = await this.#ask(asking.signal);
      if (this.#asking !== asking) return; // it was stopped meanwhile
      [this.#failures, this.#last, phase] = [0, { data, at: this.#clock.Date.now() }, "done"];
    } catch (reason) {
      if (this.#asking !== asking) return;
      [this.#failures, error, phase] = [this.#failures + 1, reason, "error"];
    }
    this.#asking = null;
    this.#timer = this.#clock.setTimeout(() => this.#look(), pauseAfter(this.#failures));
    this.#tell({ phase, failures: this.#failures, last: this.#last, error });
  }
}

// The answer, whenever it comes; `say()` is called once if it takes long.
export async function noticing(answer, say, clock = globalThis) {
  const slow = clock.setTimeout(say, SLOW_MS);
  try {
    return await answer;
  } finally {
    clock.clearTimeout(slow);
  }
}
