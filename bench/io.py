"""io: 10,000 calls of a service with 20 ms latency, 32 at a time, in threads and async, each against its bare loop."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from . import drain
from .http import SERVICE, call, call_async, idle
from .stack import Stack

GOALS = {"ratio_to_bare_loop": {"at_least": 0.85}, "async_ratio_to_bare_loop": {"at_least": 0.85}}
CALLS = 10_000
THREADS = 32
ROUNDS = 3


def run(stack: Stack) -> dict:
    service = subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, text=True)
    try:
        os.environ["BENCH_IO_ADDRESS"] = f"127.0.0.1:{service.stdout.readline().strip()}"
        bare, ours, bare_async, ours_async = [], [], [], []
        for _ in range(ROUNDS):
            bare.append(_bare_loop())
            ours.append(drain.measure(stack, "BENCH_IO", CALLS, concurrency=1))
            bare_async.append(asyncio.run(_bare_async_loop()))
            ours_async.append(drain.measure(stack, "BENCH_IO_ASYNC", CALLS, concurrency=1))
    finally:
        service.kill()
        service.wait()
    return _figures("", bare, ours) | _figures("async_", bare_async, ours_async)


def _figures(prefix: str, bare: list[float], ours: list[float]) -> dict:
    calls, loop = statistics.median(ours), statistics.median(bare)
    figures = {"calls_per_s": round(calls), "bare_loop_per_s": round(loop)}
    figures["ratio_to_bare_loop"] = round(calls / loop, 3)
    return {prefix + name: value for name, value in figures.items()}


def _bare_loop() -> float:
    address = os.environ["BENCH_IO_ADDRESS"]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, [address] * THREADS))  # connections first
        started = time.monotonic()
        list(pool.map(call, [address] * CALLS))
        return CALLS / (time.monotonic() - started)


async def _bare_async_loop() -> float:
    address, left = os.environ["BENCH_IO_ADDRESS"], iter(range(CALLS))

    async def work() -> None:
        for _ in left:
            await call_async(address)

    idle.clear()  # they belong to the loop of the last round
    await asyncio.gather(*(call_async(address) for _ in range(THREADS)))  # connections first
    started = time.monotonic()
    await asyncio.gather(*(work() for _ in range(THREADS)))
    return CALLS / (time.monotonic() - started)
