// Sends a new job once, however often somebody presses the button: the key of what is under way outlives a reload.

const MOST_WAITS = 5;

// Where a browser forbids storage, what is kept lives as long as the page.
export function tabStorage() {
  try {
    sessionStorage.setItem("punctual-test", "1");
    sessionStorage.removeItem("punctual-test");
    return sessionStorage;
  } catch {
    const kept = new Map();
    return {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => kept.set(name, value),
      removeItem: (name) => kept.delete(name),
    };
  }
}

export function randomKey() {
  if (globalThis.crypto.randomUUID) return globalThis.crypto.randomUUID();
  // Without TLS a browser has no randomUUID.
  return [...globalThis.crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("");
}

export class KeptKey {
  #storage;
  #name;

  constructor(storage, name) {
    [this.#storage, this.#name] = [storage, name];
  }

  // The same body has the same key until it is forgotten; another body is another request.
  keyFor(body) {
    const kept = this.#read();
    if (kept?.body === body) return kept.key;
    const key = `create-${randomKey()}`;
    this.#storage.setItem(this.#name, JSON.stringify({ key, body }));
    return key;
  }

  forget() {
    this.#storage.removeItem(this.#name);
  }

  #read() {
    try {
      return JSON.parse(this.#storage.getItem(this.#name));
    } catch {
      return null;
    }
  }
}

// What became of it: {job}, {problem} or {network}. The key is kept while the outcome is not known.
export async function createJob({ ask, url, values, headers, kept, wait = sleep }) {
  const body = JSON.stringify(values);
  const all = { "Content-Type": "application/json", ...headers, "Idempotency-Key": kept.keyFor(body) };
  for (let waited = 0; ; waited++) {
    let answer, told;
    try {
      answer = await ask(url, { method: "POST", headers: all, body });
      told = await answer.text();
      if (answer.ok) told = JSON.parse(told);
    } catch (error) {
      return { network: String(error) };
    }
    if (answer.ok) {
      kept.forget();
      return { job: told };
    }
    const problem = asProblem(answer, told);
    const passes = problem.code === "SCH_409_IN_PROGRESS";
    if (passes && waited < MOST_WAITS) {
      await wait(1000 * (Number(answer.headers.get("Retry-After")) || 1));
      continue;
    }
    // The server keeps such an answer with its key: another try is another request.
    if (answer.status < 500 && answer.status !== 429 && !passes) kept.forget();
    return { problem };
  }
}

export function asProblem(answer, text) {
  try {
    const problem = JSON.parse(text);
    if (problem && typeof problem.detail === "string") return problem;
  } catch {
    // Not ours: a proxy's page, say.
  }
  return { code: "", detail: `HTTP ${answer.status}` };
}

function sleep(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
