"""Dramatiq on Valkey: send, and its delay for future tasks."""

import math
import os
import sys
import time

import dramatiq
import peer
import record
import work
from dramatiq.brokers.redis import RedisBroker

broker = RedisBroker(url=os.environ["REDIS_URL"])
dramatiq.set_broker(broker)


@dramatiq.actor
def noop(number, payload):
    record.stamp(number)


def schedule(timed):
    for number, at in timed:
        delay = None if at is None else max(0, math.ceil((at - time.time()) * 1000))
        noop.send_with_options(args=(number, work.payload_of(number)), delay=delay)


def commands():
    return [[sys.executable, "-m", "dramatiq", "dramatiq_delay", "--processes=2", "--threads=4"]]


def left():
    return broker.do_qsize("default") + broker.do_qsize("default.DQ")


PEER = peer.Peer(
    versions=lambda: peer.installed("dramatiq", "redis"),
    settings="2 processes with 4 threads; dramatiq_queue_prefetch=64; for punctual dramatiq_worker_timeout=5; "
    "scheduled one by one; hiredis",
    prepare=lambda: None,
    schedule=schedule,
    commands=commands,
    left=left,
    drain_env={"dramatiq_queue_prefetch": "64"},
    punctual_env={"dramatiq_queue_prefetch": "64", "dramatiq_worker_timeout": "5"},
)

if __name__ == "__main__":
    peer.main(PEER)
