/** A client of Punctual's REST API: typed, for browsers and Node. docs/clients.md shows it at work. */

import { createClient } from "./generated/client/index.js";
import { Operations } from "./generated/sdk.gen.js";
import { type Patience, retrying } from "./retries.js";

export { ApiError } from "./errors.js";
export { every, type Page } from "./paging.js";
export type { Patience } from "./retries.js";
export type * from "./generated/types.gen.js";

export interface Connection {
  /** Where Punctual is: https://punctual.example.com, or in a host https://shop.example.com/punctual. */
  url: string;
  /** pnc_… */
  token: string;
  patience?: Partial<Patience>;
  /** Instead of the global one. */
  fetch?: typeof fetch;
}

/**
 * One method for each operation of the API. A call returns what was asked for; everything else is thrown: ApiError
 * for what was refused, fetch's TypeError when there is no answer. A write without an Idempotency-Key gets one.
 */
export class Punctual extends Operations {
  constructor(connection: Connection) {
    const url = connection.url.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
    if (!/^https?:\/\//.test(url)) {
      throw new Error(
        `The address of Punctual is ${JSON.stringify(connection.url)}; it must begin with https:// or http://, ` +
          "such as https://punctual.example.com.",
      );
    }
    super({
      client: createClient({
        baseUrl: `${url}/api/v1`,
        throwOnError: true,
        redirect: "manual", // a POST that is redirected would come back as a GET
        headers: { Authorization: `Bearer ${connection.token}` },
        fetch: retrying(connection.fetch ?? globalThis.fetch, connection.patience ?? {}),
      }),
    });
  }
}
