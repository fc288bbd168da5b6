// pg-boss: prepare | schedule FILE CALL | work
const [, , modules, verb, file, call] = process.argv;
const { PgBoss } = require(`${modules}/pg-boss`);
const fs = require("node:fs");
const { stamp } = require("./record.cjs");

const QUEUE = "noop";

async function start(options) {
  const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, ...options });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  return boss;
}

async function prepare() {
  const boss = await start();
  await boss.createQueue(QUEUE);
  await boss.stop();
}

async function schedule() {
  const timed = JSON.parse(fs.readFileSync(file));
  const boss = await start({ supervise: false, schedule: false });
  const started = performance.now();
  for (let first = 0; first < timed.length; first += Number(call)) {
    await boss.insert(
      QUEUE,
      timed.slice(first, first + Number(call)).map(([number, at, payload]) => ({
        data: { number, payload },
        startAfter: at === null ? undefined : new Date(at * 1000),
      })),
    );
  }
  console.log((performance.now() - started) / 1000);
  await boss.stop();
}

async function work() {
  const boss = await start();
  for (let worker = 0; worker < 4; worker++) {
    await boss.work(QUEUE, { batchSize: 500, pollingIntervalSeconds: 0.5 }, async (jobs) => {
      for (const job of jobs) stamp(job.data.number);
    });
  }
}

({ prepare, schedule, work })[verb]().catch((error) => {
  console.error(error);
  process.exit(1);
});
