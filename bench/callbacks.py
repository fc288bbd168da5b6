"""callbacks: HTTP_CALLBACKs to a receiver that takes 20 ms, signed, from one worker with 2 processes, against two bare
processes with httpx that have as many connections each.

The bare ones send the same bodies from as many threads, and neither sign nor keep anything.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS = {"ratio_to_bare": {"at_least": 0.8}}
CALLS = 10_000
WARM_UP = 1_000
PROCESSES = 2
ROUNDS = 3
TYPE = "HTTP_CALLBACK"


def run(stack: Stack) -> dict:
    from tasks_app.conf import conf

    connections = conf().CALLBACK_CONNECTIONS
    _make_secret()
    bare, ours = [], []
    with _receiver() as url:
        for _ in range(ROUNDS):
            bare.append(_bare(url, connections))
            ours.append(_ours(stack, url))
            print(f"  {ours[-1]:,.0f} of {bare[-1]:,.0f} calls/s", flush=True)
    calls, loop = statistics.median(ours), statistics.median(bare)
    return {
        "calls_per_s": round(calls),
        "bare_per_s": round(loop),
        "ratio_to_bare": round(calls / loop, 3),
        "connections": PROCESSES * connections,
    }


def _make_secret() -> None:
    from tasks_app.lifecycle.audit import Operator
    from tasks_app.lifecycle.secret_verbs import set_secret

    set_secret("callbacks", Operator("bench", "a bench"), tenant="default")


def _ours(stack: Stack, url: str) -> float:
    """Calls a second from the first claim to the last settle, on the database's clock. The worker has made a few."""
    empty_tables()
    execute("DELETE FROM punctual_batch")
    stack.start(beats=1, workers=1, concurrency=PROCESSES)
    _schedule(url, WARM_UP, "warm-up")
    wait_settled(WARM_UP)
    stack.stop_beats()
    _schedule(url, CALLS, "order")
    execute("VACUUM ANALYZE punctual_task")
    ((before,),) = query("SELECT clock_timestamp()")
    stack.start(beats=1, workers=0)
    wait_settled(CALLS + WARM_UP)
    ((seconds,),) = query(
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM punctual_batch"
        " WHERE claimed_at > %s AND task_type = %s",
        [before, TYPE],
    )
    stack.stop()
    ((done, most),) = query(
        "SELECT count(*), max(attempt) FROM punctual_task WHERE status = 'SUCCESS' AND task_type = %s", [TYPE]
    )
    if done != CALLS + WARM_UP or most:
        raise SystemExit(f"{done} of {CALLS + WARM_UP} calls succeeded, and one of them failed {most} times before")
    return CALLS / seconds


def _schedule(url: str, number: int, prefix: str) -> None:
    from django_punctual import schedule_many

    tasks = [{"key": f"{prefix}-{one}", "payload": {"url": url, "json": _body(one)}} for one in range(number)]
    for first in range(0, number, 5_000):
        schedule_many(TYPE, tasks[first : first + 5_000])


def _body(number: int) -> dict:
    return {"order": number, "amount": 100 + number % 50, "currency": "EUR", "attempt": "{{attempt}}"}


def _bare(url: str, connections: int) -> float:
    """All processes begin together, when they have their connections; until the last of them is done."""
    command = [sys.executable, "-c", CLIENT, url, str(connections), str(CALLS // PROCESSES)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(PROCESSES)]
    for process in processes:
        if process.stdout.readline() != "ready\n":
            raise SystemExit("a bare client did not come up")
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    took = max(json.loads(process.stdout.readline()) for process in processes)
    for process in processes:
        process.wait()
    return CALLS / took


@contextmanager
def _receiver() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/orders"
    finally:
        process.kill()
        process.wait()


# A client for each connection: from one client with a pool for all, threads and event loops get far less.
CLIENT = """
import sys, threading, time
import httpx

url, connections, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
left, ready, go = iter(range(calls)), threading.Barrier(connections + 1), threading.Event()

def work():
    with httpx.Client(timeout=5, trust_env=False) as client:
        def call(number):
            body = {"order": number, "amount": 100 + number % 50, "currency": "EUR", "attempt": 1}
            client.post(url, json=body).raise_for_status()

        call(0)
        ready.wait()
        go.wait()
        for number in left:
            call(number)

threads = [threading.Thread(target=work) for _ in range(connections)]
for thread in threads:
    thread.start()
ready.wait()
print("ready", flush=True)
sys.stdin.readline()
began = time.monotonic()
go.set()
for thread in threads:
    thread.join()
print(time.monotonic() - began, flush=True)
"""
SERVICE = """
import asyncio

ANSWER = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 11\\r\\n\\r\\n{\\"ok\\":true}"

class Receiver(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.waiting = transport, b""

    def data_received(self, data):
        data = self.waiting + data
        while (end := data.find(b"\\r\\n\\r\\n")) >= 0:
            head = data[:end].lower()
            at = head.find(b"content-length: ") + 16
            whole = end + 4 + int(head[at:].split(b"\\r\\n")[0])
            if len(data) < whole:
                break
            data = data[whole:]
            asyncio.get_running_loop().call_later(0.020, self.transport.write, ANSWER)
        self.waiting = data

async def main():
    server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
