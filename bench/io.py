"""io: 10,000 calls of a service with 20 ms latency, 32 at a time, against the same client in a bare thread pool."""

import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from . import drain
from .http import SERVICE, call
from .stack import Stack

GOALS = {"ratio_to_bare_loop": {"at_least": 0.85}}
CALLS = 10_000
THREADS = 32
ROUNDS = 3


def run(stack: Stack) -> dict:
    service = subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, text=True)
    try:
        os.environ["BENCH_IO_ADDRESS"] = f"127.0.0.1:{service.stdout.readline().strip()}"
        bare, ours = [], []
        for _ in range(ROUNDS):
            bare.append(_bare_loop())
            ours.append(drain.measure(stack, "BENCH_IO", CALLS, concurrency=1))
    finally:
        service.kill()
        service.wait()
    calls, loop = statistics.median(ours), statistics.median(bare)
    return {"calls_per_s": round(calls), "bare_loop_per_s": round(loop), "ratio_to_bare_loop": round(calls / loop, 3)}


def _bare_loop() -> float:
    address = os.environ["BENCH_IO_ADDRESS"]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, [address] * THREADS))  # connections first
        started = time.monotonic()
        list(pool.map(call, [address] * CALLS))
        return CALLS / (time.monotonic() - started)
