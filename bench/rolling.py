"""rolling: 6,400 products of a stock system with 100 ms latency, one worker process, 32 questions at a time."""

import json
import os
import statistics
import subprocess
import sys
import time

from .stack import ROOT, Stack, empty_tables, execute, query

GOALS = {"ratio_to_ideal": {"at_least": 0.85}}
PRODUCTS = 6_400
LATENCY_MS, THREADS = 100, 32
IDEAL = THREADS * 1000 / LATENCY_MS
ROUNDS = 3


def run(stack: Stack) -> dict:
    service, url = start_service({"latency_ms": LATENCY_MS})
    try:
        rates = [_measure(stack, url) for _ in range(ROUNDS)]
    finally:
        service.kill()
        service.wait()
    rate = statistics.median(rates)
    return {"syncs_per_s": round(rate, 1), "ideal_per_s": IDEAL, "ratio_to_ideal": round(rate / IDEAL, 3)}


def start_service(switches: dict) -> tuple[subprocess.Popen, str]:
    command = [sys.executable, str(ROOT / "examples" / "stock_service.py"), "--port", "0"]
    environment = os.environ | {"STOCK_SWITCH": json.dumps(switches)}
    service = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    return service, service.stdout.readline().split()[-1]


def _measure(stack: Stack, url: str) -> float:
    """Syncs a second from the first write to the last, without what the processes take to start."""
    from inventory_app.lifecycle import NewProduct, import_products

    empty_tables()
    execute("TRUNCATE product, sync_window")
    env = {"STOCK_URL": url, "STOCK_CONCURRENCY": str(THREADS), "STOCK_RATE": "5000", "STOCK_BURST": "2000"}
    stack.start(concurrency=1, **env)
    import_products([NewProduct.of(f"P{n:06}", f"Product {n}") for n in range(PRODUCTS)])
    deadline = time.monotonic() + 120
    while query("SELECT count(*) FROM product WHERE stock_synced_at IS NULL")[0][0]:
        if time.monotonic() > deadline:
            raise SystemExit("not all products were synced within 120 s")
        time.sleep(0.1)
    stack.stop()
    # By when each was asked: the first round of questions is where it begins, so it is not counted itself.
    ((seconds,),) = query("SELECT extract(epoch FROM max(stock_synced_at) - min(stock_synced_at))::float8 FROM product")
    return (PRODUCTS - THREADS) / seconds
