// graphile-worker: prepare | schedule FILE CALL | work
const [, , modules, verb, file, call] = process.argv;
const { makeWorkerUtils, run, Logger } = require(`${modules}/graphile-worker`);
const fs = require("node:fs");
const { stamp } = require("./record.cjs");

const connectionString = process.env.DATABASE_URL;
const logger = new Logger(() => () => {});

async function prepare() {
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  await utils.release();
}

async function schedule() {
  const timed = JSON.parse(fs.readFileSync(file));
  const utils = await makeWorkerUtils({ connectionString, logger });
  const started = performance.now();
  for (let first = 0; first < timed.length; first += Number(call)) {
    await utils.addJobs(
      timed.slice(first, first + Number(call)).map(([number, at, payload]) => ({
        identifier: "noop",
        payload: { number, payload },
        runAt: at === null ? undefined : new Date(at * 1000),
      })),
    );
  }
  console.log((performance.now() - started) / 1000);
  await utils.release();
}

async function work() {
  const runner = await run({
    logger,
    preset: {
      worker: {
        connectionString,
        concurrentJobs: 24,
        maxPoolSize: 25,
        pollInterval: Number(process.env.GRAPHILE_POLL_MS || 2000),
        localQueue: { size: Number(process.env.GRAPHILE_LOCAL_QUEUE || 500) },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    taskList: { noop: async ({ number }) => stamp(number) },
  });
  await runner.promise;
}

({ prepare, schedule, work })[verb]().catch((error) => {
  console.error(error);
  process.exit(1);
});
