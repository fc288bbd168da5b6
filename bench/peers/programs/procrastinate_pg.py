"""Procrastinate on PostgreSQL: batch_defer, and schedule_at for future tasks."""

import asyncio
import os
import sys
from datetime import UTC, datetime

import peer
import procrastinate
import psycopg
import record
import work

CONCURRENCY = 20

app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(conninfo=os.environ["DATABASE_URL"], min_size=4, max_size=CONCURRENCY)
)


@app.task(name="noop")
async def noop(number, payload):
    record.stamp(number)


def prepare():
    with app.open():
        app.schema_manager.apply_schema()


def schedule(timed):
    """batch_defer takes one time for all, so tasks with times of their own are deferred one by one, 20 at once."""
    times = {at for _, at in timed}
    if len(times) == 1:
        with app.open():
            task = noop.configure(schedule_at=when(*times))
            tasks = [{"number": number, "payload": work.payload_of(number)} for number, _ in timed]
            for first in range(0, len(tasks), 5_000):
                task.batch_defer(*tasks[first : first + 5_000])
    else:
        asyncio.run(schedule_apart(timed))


async def schedule_apart(timed):
    waiting = iter(timed)

    async def deferrer():
        for number, at in waiting:
            await noop.configure(schedule_at=when(at)).defer_async(number=number, payload=work.payload_of(number))

    async with app.open_async():
        await asyncio.gather(*(deferrer() for _ in range(CONCURRENCY)))


def when(at):
    return None if at is None else datetime.fromtimestamp(at, UTC)


def commands():
    options = ["worker", f"--concurrency={CONCURRENCY}", "--delete-jobs=successful"]
    return [[sys.executable, "-m", "procrastinate", "--app=procrastinate_pg.app", *options]] * 2


def left():
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        return connection.execute(
            "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        ).fetchone()[0]


PEER = peer.Peer(
    versions=lambda: peer.installed("procrastinate", "psycopg"),
    settings="2 worker processes with --concurrency=20 and --delete-jobs=successful; async task; for punctual "
    "--fetch-job-polling-interval=0.001; 20 callers at once for enqueue, since batch_defer has one time for all",
    prepare=prepare,
    schedule=schedule,
    commands=commands,
    left=left,
    punctual_env={"PROCRASTINATE_WORKER_FETCH_JOB_POLLING_INTERVAL": "0.001"},
)

if __name__ == "__main__":
    peer.main(PEER)
