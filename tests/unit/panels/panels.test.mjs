// What the panels do, without a page: when they ask again, what they show, and that a job is sent once.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { test } from "node:test";

const folder = pathToFileURL(`${process.env.PANELS}/`);
const load = (name) => import(new URL(name, folder));
const { MOST_MS, noticing, pauseAfter, Poller, SLOW_MS } = await load("poller.js");
const { ageOf, summary } = await load("health.js");
const { createJob, KeptKey } = await load("sending.js");
const { bodyOf } = await load("job.js");
const { Drafting, worthShowing } = await load("draft.js");
const { languageOf, TEXTS } = await load("texts.js");

// A clock that stands still until it is told to run the next timer.
function stillClock() {
  const timers = new Map();
  let number = 0, now = 0;
  return {
    timers,
    Date: { now: () => now },
    setTimeout: (run, ms) => (timers.set(++number, { run, ms }), number),
    clearTimeout: (one) => timers.delete(one),
    async next() {
      const [[one, { run, ms }]] = timers;
      timers.delete(one);
      now += ms;
      run();
      await settled();
      return ms;
    },
  };
}

const settled = () => new Promise((done) => setImmediate(done));

function polling(answers) {
  const clock = stillClock(), told = [], signals = [];
  const ask = (signal) => {
    signals.push(signal);
    const answer = answers.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { clock, told, signals, poller: new Poller({ ask, tell: (one) => told.push(one), clock }) };
}

const WELL = { status: "ok", triggerDelayP95Ms: 12, oldestOverdueMs: 0, throttledBy: [], lanes: [] };

test("the pause is 2 s after an answer, longer after each failure, and 30 s at most", () => {
  assert.deepEqual([0, 1, 2, 3, 13, 14, 99].map(pauseAfter), [2000, 4000, 6000, 8000, 28000, 30000, 30000]);
  assert.equal(MOST_MS, 30000);
});

test("whoever waits for 2 s hears so once, and nobody else does", async () => {
  const clock = stillClock(), said = [];
  let answer;
  const slow = noticing(new Promise((done) => { answer = done; }), () => said.push("slow"), clock);
  assert.equal(await clock.next(), SLOW_MS);
  assert.equal(SLOW_MS, 2000);
  answer("at last");
  assert.equal(await slow, "at last");
  assert.equal(await noticing(Promise.resolve("soon"), () => said.push("never"), clock), "soon");
  await assert.rejects(noticing(Promise.reject(new Error("away")), () => said.push("never"), clock), /away/);
  assert.deepEqual([said, clock.timers.size], [["slow"], 0]);
});

test("failures are counted, the third one leaves a summary of the last good state, and an answer ends it", async () => {
  const down = new Error("HTTP 503");
  const { clock, told, poller } = polling([WELL, down, down, down, WELL]);
  poller.start();
  await settled();
  const pauses = [];
  for (let n = 0; n < 4; n++) pauses.push(await clock.next());

  const ends = told.filter((one) => one.phase !== "loading");
  assert.deepEqual(ends.map((one) => [one.phase, one.failures]), [["done", 0], ["error", 1], ["error", 2], ["error", 3], ["done", 0]]);
  assert.deepEqual(pauses, [2000, 4000, 6000, 8000]);
  assert.equal(ends[3].last.data, WELL);
  const shown = ends.map((one) => summary(one, TEXTS.zh));
  assert.deepEqual(shown.map((one) => one.message), [
    "调度健康", "拉取失败，重试第 1 次: HTTP 503", "拉取失败，重试第 2 次: HTTP 503", "连续失败，前端降级为只读健康摘要", "调度健康",
  ]);
  assert.deepEqual(shown.map((one) => one.old), [false, false, false, true, false]);
  assert.equal(ageOf(ends[3].last, 12000, TEXTS.en), "12 s"); // 2 + 4 + 6 s after it
  assert.equal(ageOf({ at: 0 }, 180000, TEXTS.en), "3 min");
});

test("a stopped panel asks nobody, forgets the answer under way, and starts again at once", async () => {
  const { clock, told, signals, poller } = polling([WELL, WELL]);
  poller.start();
  poller.stop();
  await settled();
  assert.ok(signals[0].aborted);
  assert.deepEqual(told.map((one) => one.phase), ["loading"]);
  assert.equal(clock.timers.size, 0);

  poller.start();
  poller.start();
  await settled();
  assert.deepEqual(told.map((one) => one.phase), ["loading", "loading", "done"]);
  poller.stop();
  assert.equal(clock.timers.size, 0);
});

test("what starts or waits longer than 2 s is late, and throttled only if a safeguard does it", () => {
  const told = (data, texts = TEXTS.zh) => summary({ phase: "done", failures: 0, last: { data: { ...WELL, ...data }, at: 0 } }, texts);
  const low = (safeguard) => [{ lane: "default", safeguard: null }, { lane: "low", safeguard }];

  assert.equal(told({ triggerDelayP95Ms: 2000, oldestOverdueMs: 2000, lanes: low(null) }).message, "调度健康");
  assert.equal(told({ triggerDelayP95Ms: null, oldestOverdueMs: 0 }).message, "调度健康");
  for (const late of [{ triggerDelayP95Ms: 2001 }, { triggerDelayP95Ms: null, oldestOverdueMs: 2001 }])
    assert.deepEqual([told({ ...late, lanes: low(null) }).message, told(late).mood], ["任务触发延迟", "bad"]);
  const degraded = { throttledBy: ["delay"], lanes: low("delay") };
  assert.deepEqual([told(degraded).message, told(degraded).mood], ["进入降级：低优先级任务限速", "bad"]);
  assert.equal(told({ ...degraded, status: "trouble", problems: ["x"] }).message, "进入降级：低优先级任务限速");
  assert.equal(told({ throttledBy: ["profile"], lanes: low("profile") }).message, "调度健康");
  assert.equal(told({ throttledBy: ["breaker"], lanes: low(null) }, TEXTS.en).message, "Safeguards throttle tasks: breaker");
  assert.equal(summary({ phase: "loading", failures: 0, last: null }, TEXTS.zh).message, "初始化中");
});

test("trouble is told with its first cause, and never beside a text that says all is well", () => {
  const told = (data, texts) => summary({ phase: "done", failures: 0, last: { data: { ...WELL, status: "trouble", ...data }, at: 0 } }, texts);
  const problems = ["No worker is alive.", "The broker does not answer."];

  assert.deepEqual([told({ problems }, TEXTS.en).message, told({ problems }, TEXTS.en).mood], ["Something is wrong: No worker is alive.", "bad"]);
  assert.equal(told({ problems }, TEXTS.zh).message, "调度异常：No worker is alive.");
  assert.equal(told({ problems: [] }, TEXTS.zh).message, "调度异常");
  assert.equal(told({ problems, triggerDelayP95Ms: 2001 }, TEXTS.zh).message, "调度异常：No worker is alive.");
  assert.deepEqual([told({ status: "notice", problems: [] }, TEXTS.en).message, told({ status: "notice" }, TEXTS.en).mood], ["The scheduler is well", "good"]);
});

test("the browser's languages are asked in their order, after the element's own", () => {
  const element = (lang) => ({ getAttribute: () => lang });
  assert.equal(languageOf(null, { languages: ["fr-FR", "zh-CN", "en"] }), "zh");
  assert.equal(languageOf(null, { languages: ["fr"], language: "fr" }), "en");
  assert.equal(languageOf(element("en"), { languages: ["zh"] }), "en");
  assert.deepEqual(Object.keys(TEXTS.zh), Object.keys(TEXTS.en));
});

// Sending

function storage() {
  const kept = new Map();
  return { getItem: (n) => kept.get(n) ?? null, setItem: (n, v) => kept.set(n, v), removeItem: (n) => kept.delete(n), kept };
}

const answer = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });

function sender(...answers) {
  const seen = [], waits = [], place = storage();
  const ask = async (url, options) => {
    seen.push(options.headers["Idempotency-Key"]);
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  const send = (values = { name: "coupon_job" }) =>
    createJob({ ask, url: "/jobs", values, headers: {}, kept: new KeptKey(place, "key"), wait: async (ms) => waits.push(ms) });
  return { seen, waits, place, send };
}

test("a lost answer is asked for again with the same key, even after a reload, and a new job has a new one", async () => {
  const { seen, place, send } = sender(new TypeError("Failed to fetch"), answer(502, {}), answer(201, { id: 7 }), answer(201, { id: 8 }));

  assert.deepEqual(await send(), { network: "TypeError: Failed to fetch" });
  assert.equal((await send()).problem.detail, "HTTP 502"); // each send() has a KeptKey of its own, as after a reload
  assert.deepEqual(await send(), { job: { id: 7 } });
  assert.equal(place.kept.size, 0);
  await send();
  assert.equal(new Set(seen.slice(0, 3)).size, 1);
  assert.notEqual(seen[3], seen[0]);
});

test("another body has another key, and so has the next try after a refusal", async () => {
  const refused = { code: "SCH_422_INVALID", detail: "cron …", errors: [{ field: "cron", detail: "…" }] };
  const { seen, send } = sender(new TypeError("x"), answer(422, refused), answer(201, { id: 1 }));

  await send({ name: "one" });
  assert.deepEqual((await send({ name: "two" })).problem, refused);
  await send({ name: "two" });
  assert.equal(new Set(seen).size, 3);
});

test("while the first request is still running, the second waits for its answer", async () => {
  const running = () => answer(409, { code: "SCH_409_IN_PROGRESS", detail: "…" }, { "Retry-After": "1" });
  const { seen, waits, send } = sender(running(), running(), answer(201, { id: 7 }));

  assert.deepEqual(await send(), { job: { id: 7 } });
  assert.deepEqual([new Set(seen).size, waits], [1, [1000, 1000]]);
});

test("a body has what is filled in, and a callback its payload", () => {
  assert.deepEqual(bodyOf({ name: "coupon_job", task_type: "", when: "cron", cron: "0 */5 * * * ?", every: "9", payload: " " }), {
    name: "coupon_job", cron: "0 */5 * * * ?",
  });
  assert.deepEqual(bodyOf({ name: "x", task_type: "HTTP_CALLBACK", url: "https://a.example", payload: "{", when: "every", every: "60", max_retry: "0", timezone: "UTC" }), {
    name: "x", task_type: "HTTP_CALLBACK", payload: { url: "https://a.example", method: "POST" }, every: 60, timezone: "UTC", max_retry: 0,
  });
  assert.throws(() => bodyOf({ payload: "{" }), ({ field, text }) => field === "payload" && text === "notJson");
});

test("a callback has its headers, its body and its time-out", () => {
  const call = (values) => bodyOf({ task_type: "HTTP_CALLBACK", url: "https://a.example", ...values }).payload;
  const usual = { url: "https://a.example", method: "POST" };

  assert.deepEqual(call({ headers: "X-Source: shop\n\n Accept:text/plain:x ", timeout: "2.5" }), {
    ...usual, headers: { "X-Source": "shop", Accept: "text/plain:x" }, timeout: 2.5,
  });
  assert.deepEqual(call({ body: ' {"a": [1]}' }), { ...usual, json: { a: [1] } });
  assert.deepEqual([call({ sign: "callbacks" }), call({ sign: "" })], [usual, { ...usual, sign: "" }]);
  assert.deepEqual(call({ body: "a=1", method: "PUT" }), { ...usual, method: "PUT", text: "a=1" });
  assert.deepEqual(call({ body: "a=1", method: "GET", headers: " \n" }), { ...usual, method: "GET" });
  assert.throws(() => call({ headers: "no colon" }), ({ field, text, detail }) => field === "headers" && TEXTS.en[text](detail).includes("no colon"));
  assert.throws(() => call({ body: "[1," }), ({ field, text }) => field === "body" && text === "notJson");
});

test("the preview is asked for once after a pause, and an answer to older words is not shown", async () => {
  const clock = stillClock(), shown = [], waiting = [];
  const drafting = new Drafting({ clock, show: (one) => shown.push(one), ask: () => new Promise((done) => waiting.push(done)) });
  drafting.changed();
  drafting.changed();
  assert.equal(clock.timers.size, 1);
  assert.equal(await clock.next(), 300);
  drafting.changed();
  await clock.next();
  waiting[1]("new");
  waiting[0]("old");
  await settled();
  assert.deepEqual(shown, ["new"]);
});

test("a field that nobody has reached yet is not blamed", () => {
  const errors = [{ field: "name", detail: "" }, { field: "cron", detail: "" }, { field: "task_type", detail: "" }, { field: null, detail: "" }];
  const values = { cron: "x" };

  assert.deepEqual(worthShowing(errors, (one) => values[one] ?? "", new Set(["name"])).map((one) => one.field), ["name", "cron"]);
});
