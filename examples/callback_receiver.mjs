// A receiver of Punctual's callbacks in plain Node.js, without packages: `node callback_receiver.mjs`.
//
// It checks the signature (Standard Webhooks), does the work of one token once, however often it is called, and answers
// in JSON, which becomes the task's result. POST /moderate judges an article, POST /stock says how much there is.
//
//   PUNCTUAL_SECRET  what `manage.py secrets make callbacks` printed; while it is changed, old and new with a space between
//   PORT             where it listens; 0, the default, is any free port, and the first line says which

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const SECRETS = (process.env.PUNCTUAL_SECRET ?? "").split(" ").filter(Boolean);
const TOLERANCE_SECONDS = 300; // a call that was recorded is worth nothing later
const MOST_BYTES = 1_000_000;
const REMEMBERED = 10_000; // tokens; a real receiver keeps them in its database, with what it has done

if (SECRETS.length === 0) throw new Error("PUNCTUAL_SECRET is missing; `manage.py secrets make callbacks` prints one");

const KEYS = SECRETS.map((secret) => Buffer.from(secret.replace(/^whsec_/, ""), "base64"));

export function isGenuine(headers, body, now = Date.now() / 1000) {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signatures } = headers;
  if (!id || !signatures || !(Math.abs(now - Number(at)) <= TOLERANCE_SECONDS)) return false;
  const given = signatures
    .split(" ")
    .filter((one) => one.startsWith("v1,"))
    .map((one) => Buffer.from(one.slice(3), "base64"));
  return KEYS.some((key) => {
    const right = createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest();
    return given.some((one) => one.length === right.length && timingSafeEqual(one, right));
  });
}

const WORK = {
  "/moderate": async ({ article, text = "" }) => ({ article, verdict: /spam/i.test(text) ? "rejected" : "approved" }),
  "/stock": async ({ product }) => ({ product, quantity: [...String(product)].length * 10 }),
};

const done = new Map(); // token -> what was answered, or a promise of it while the first call is at work

function once(token, work) {
  if (!done.has(token)) {
    const answer = work().catch((error) => {
      done.delete(token); // it was not done: the next try does it
      throw error;
    });
    done.set(token, answer);
    if (done.size > REMEMBERED) done.delete(done.keys().next().value);
    return { answer, repeated: false };
  }
  return { answer: done.get(token), repeated: true };
}

async function read(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MOST_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function reply(response, status, value, headers = {}) {
  const text = JSON.stringify(value);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), ...headers });
  response.end(text);
}

const server = createServer(async (request, response) => {
  const work = WORK[request.url];
  if (request.method !== "POST" || work === undefined) return reply(response, 404, { error: "there is nothing here" });
  const body = await read(request);
  if (body === null) return reply(response, 413, { error: "too large" }, { Connection: "close" });
  if (!isGenuine(request.headers, body)) return reply(response, 401, { error: "the signature is wrong" });
  let order;
  try {
    order = JSON.parse(body);
  } catch {
    return reply(response, 400, { error: "this is no JSON" }); // a 4xx is final: the task is dead, and somebody looks
  }
  try {
    const { answer, repeated } = once(request.headers["webhook-id"], () => work(order));
    reply(response, 200, await answer, { "Already-Done": String(repeated) });
  } catch (error) {
    reply(response, 503, { error: String(error) }); // it is tried again, later and later
  }
});

server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
