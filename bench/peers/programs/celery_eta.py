"""Celery on Valkey: apply_async, and its ETA for future tasks."""

import os
import sys
from datetime import UTC, datetime

import peer
import record
import redis
import work
from celery import Celery

SOCKET = os.environ["REDIS_URL"].removeprefix("unix://").split("?")[0]

app = Celery("celery_eta", broker=f"redis+socket://{SOCKET}")
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=128,
    broker_connection_retry_on_startup=True,
)


@app.task(name="noop")
def noop(number, payload):
    record.stamp(number)


def schedule(timed):
    with app.producer_pool.acquire(block=True) as producer:
        for number, at in timed:
            eta = None if at is None else datetime.fromtimestamp(at, UTC)
            noop.apply_async((number, work.payload_of(number)), eta=eta, producer=producer)


def commands():
    options = ["--pool=solo", "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=ERROR"]
    worker = [sys.executable, "-m", "celery", "--quiet", "-A", "celery_eta", "worker", *options]
    return [[*worker, "-n", f"w{number}@bench"] for number in range(2)]


def left():
    client = redis.Redis.from_url(os.environ["REDIS_URL"])
    return client.llen("celery") + client.hlen("unacked")


PEER = peer.Peer(
    versions=lambda: peer.installed("celery", "kombu", "redis"),
    settings="2 worker processes with the solo pool; worker_prefetch_multiplier=128; results ignored; no gossip, "
    "mingle or heartbeat; scheduled with one producer, one by one; hiredis",
    prepare=lambda: None,
    schedule=schedule,
    commands=commands,
    left=left,
)

if __name__ == "__main__":
    peer.main(PEER)
