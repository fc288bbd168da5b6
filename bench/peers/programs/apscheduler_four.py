"""APScheduler 4 (a pre-release) on its PostgreSQL data store: add_job, and add_schedule for future tasks."""

import asyncio
import os
import sys
from datetime import UTC, datetime

import peer
import psycopg
import record
import work
from apscheduler import AsyncScheduler, TaskDefaults
from apscheduler.datastores.sqlalchemy import SQLAlchemyDataStore
from apscheduler.eventbrokers.redis import RedisEventBroker
from apscheduler.triggers.date import DateTrigger
from sqlalchemy.ext.asyncio import create_async_engine

AT_ONCE = 20


async def noop(number, payload):
    record.stamp(number)


def scheduler():
    url = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+asyncpg://")
    return AsyncScheduler(
        SQLAlchemyDataStore(create_async_engine(url, pool_size=AT_ONCE)),
        RedisEventBroker(os.environ["REDIS_URL"]),
        max_concurrent_jobs=500,
        # None is no limit; the default runs one job of a task at a time.
        task_defaults=TaskDefaults(max_running_jobs=None, job_executor="async"),
    )


async def serve():
    async with scheduler() as worker:
        await worker.configure_task("noop", func=noop)
        await worker.run_until_stopped()


async def prepare():
    async with scheduler() as client:
        await client.configure_task("noop", func=noop)


async def schedule(timed):
    waiting = iter(timed)
    async with scheduler() as client:
        await client.configure_task("noop", func=noop)

        async def one_after_another():
            for number, at in waiting:
                if at is None:
                    await client.add_job("noop", args=(number, work.payload_of(number)))
                else:
                    await client.add_schedule(
                        "noop", DateTrigger(datetime.fromtimestamp(at, UTC)), args=(number, work.payload_of(number))
                    )

        await asyncio.gather(*(one_after_another() for _ in range(AT_ONCE)))


def left():
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        return connection.execute("SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM schedules)").fetchone()[0]


PEER = peer.Peer(
    versions=lambda: peer.installed("APScheduler", "SQLAlchemy", "asyncpg"),
    settings="pre-release; SQLAlchemyDataStore on asyncpg, RedisEventBroker; 1 process that schedules and works (2 are "
    "slower); max_concurrent_jobs=500, no max_running_jobs; async task; 20 callers at once",
    prepare=lambda: asyncio.run(prepare()),
    schedule=lambda timed: asyncio.run(schedule(timed)),
    commands=lambda: [[sys.executable, "apscheduler_four.py", "work"]],
    left=left,
    processes=1,
)

if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        asyncio.run(serve())
        sys.exit()
    peer.main(PEER)
