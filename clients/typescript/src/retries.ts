/** Sends again what may be sent again: reads, and writes with an Idempotency-Key, which are done once at most. */

import { ApiError } from "./errors.js";

export interface Patience {
  /** The first one counts. */
  tries: number;
  /** Seconds; a server that asks for more gets no second try. */
  longestWait: number;
}

const READS = new Set(["GET", "HEAD"]);
const PASSING_STATUSES = new Set([429, 502, 503, 504]);
const PASSING_CODES = new Set<string>(["SCH_409_IN_PROGRESS", "SCH_409_CONFLICT"]);
const FIRST_WAIT = 0.2; // seconds

/** A fetch that gives a write its key, sends again, and throws what is no success. */
export function retrying(inner: typeof fetch, wanted: Partial<Patience>): typeof fetch {
  const patience: Patience = { tries: 4, longestWait: 10, ...wanted };
  return async (input, init) => {
    const request = new Request(input, init);
    if (!READS.has(request.method) && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", newKey());
    }
    for (let tries = 1; ; tries++) {
      let wait: number | undefined;
      let failure: unknown;
      try {
        const response = await inner(request.clone());
        if (response.ok) return response;
        const refusal = await ApiError.of(response);
        failure = refusal;
        if (PASSING_STATUSES.has(refusal.status) || PASSING_CODES.has(refusal.code)) {
          wait = refusal.retryAfter ?? backoff(tries);
        }
      } catch (error) {
        failure = error;
        // Whoever gave up on it does not want it sent again.
        if (!request.signal.aborted) wait = backoff(tries);
      }
      if (wait === undefined || wait > patience.longestWait || tries >= patience.tries) throw failure;
      await sleep(wait, request.signal);
    }
  };
}

function backoff(tries: number): number {
  // Spread out, so that those who failed together don't come back together.
  return FIRST_WAIT * 2 ** (tries - 1) * (0.5 + Math.random() / 2);
}

function newKey(): string {
  // Not randomUUID, which browsers have on pages with TLS only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    }, seconds * 1000);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}
