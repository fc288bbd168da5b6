"""receivers: HTTP_CALLBACKs to 50 endpoints of four tenants, half of them healthy; how well these are served beside
endpoints that are slow, fail or stay silent, and how soon one that recovers is served again.

Open loop: calls come due at the same rate for each endpoint, however many wait already. First the healthy ones alone,
then all; 30 s later those that reset, answer 500 or 429 become healthy. The receiver counts calls, not the scheduler.
"""

import json
import statistics
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer
from time import time
from typing import NamedTuple

from .cost import cpu_seconds
from .stack import Stack, execute, percentile, query
from .tasks import wait_until

GOALS = {"worst_share": {"at_least": 0.9}, "p99_ms": {"at_most": 1_000}, "recovery_s": {"at_most": 30}}
OPTIONS = ("rate",)
TYPE = "HTTP_CALLBACK"
TENANTS = ("north", "east", "south", "west")
HEALTHY = "healthy"
# Endpoints of each behaviour: see ANSWERS in SERVICE.
ENDPOINTS = {HEALTHY: 25, "1 s": 4, "20 s": 4, "reset": 4, "500": 4, "404": 3, "429": 3, "202": 3}
RECOVERING = ("reset", "500", "429")
OPTIONS_OF_CALLS = {"20 s": {"timeout": 30}, "202": {"later": 20}}
# Calls a second to each endpoint: 800 in all come due, 40 % of what bench callbacks makes. With 25, what comes due and
# what is sent back take all of two cores, and calls are late because of that.
RATE = 16
HIGH_PER_S = 5  # calls of lane high, to the healthy endpoints in turn
WARM_UP, ALONE, PAUSE, SICK, WELL = 4, 25, 2, 30, 40  # seconds, one after the other
AHEAD = 8  # seconds before they are due that calls are scheduled
WINDOW, SERVED, STEP = 3.0, 0.9, 0.1  # recovered: in so many seconds, this share of what came due


class Endpoint(NamedTuple):
    number: int
    behaviour: str
    tenant: str


class Call(NamedTuple):
    """A request as the receiver saw it."""

    endpoint: int
    key: str
    received: float  # epoch seconds
    answered: float
    status: int  # 0: the connection was reset


class Phase(NamedTuple):
    name: str
    begun: float
    ended: float
    due: Mapping[int, Mapping[str, float]]  # of each endpoint, by key


def run(stack: Stack, rate: int = RATE) -> dict:
    """`rate` is that of each endpoint."""
    endpoints = list(_endpoints())
    _make_tenants()
    log = stack.folder / "calls"
    with _receiver(log, endpoints) as receiver:
        stack.start(beats=1, workers=1, concurrency=2)
        phases = _phases(endpoints, time() + AHEAD, rate)
        warm_up, _alone, beside, _high = phases
        recovery = beside.begun + SICK
        bad = [one.number for one in endpoints if one.behaviour in RECOVERING]
        healer = Timer(recovery - time(), receiver.heal, [bad])
        healer.daemon = True
        healer.start()
        _feed(endpoints, receiver.ports, phases)
        wait_until(beside.ended)
        states = _states()
        dead = {key for (key,) in query("SELECT biz_key FROM punctual_task WHERE status = 'DEAD'")}
        receiver_percent = 100 * cpu_seconds({receiver.pid}) / (time() - warm_up.begun)
        stack.stop()
    calls = list(_calls(log))
    _print_states(endpoints, states, calls, beside)
    return {
        **_healthy(endpoints, calls, phases),
        **_recovery(endpoints, calls, beside, dead, recovery, rate),
        "receiver_percent": round(receiver_percent, 1),
    }


def _endpoints() -> Iterator[Endpoint]:
    """Tenants in turn, so that each has healthy ones and most kinds of bad ones."""
    behaviours = [behaviour for behaviour, count in ENDPOINTS.items() for _ in range(count)]
    for number, behaviour in enumerate(behaviours):
        yield Endpoint(number, behaviour, TENANTS[number % len(TENANTS)])


def _of(endpoints: Iterable[Endpoint], behaviour: str) -> list[Endpoint]:
    return [one for one in endpoints if one.behaviour == behaviour]


def _phases(endpoints: Sequence[Endpoint], begin: float, rate: int) -> list[Phase]:
    healthy = _of(endpoints, HEALTHY)
    alone, beside = begin + WARM_UP, begin + WARM_UP + ALONE + PAUSE
    return [
        _phase("warm_up", healthy, begin, WARM_UP, rate),
        _phase("alone", healthy, alone, ALONE, rate),
        _phase("beside", endpoints, beside, SICK + WELL, rate),
        _phase("high", healthy, beside, SICK + WELL, HIGH_PER_S / len(healthy)),
    ]


def _phase(name: str, endpoints: Sequence[Endpoint], begun: float, seconds: float, rate: float) -> Phase:
    """Each endpoint in its turn, so that calls are spread evenly."""
    due = {
        one.number: {
            f"{one.number}-{name}-{call}": begun + (call + place / len(endpoints)) / rate
            for call in range(round(seconds * rate))
        }
        for place, one in enumerate(endpoints)
    }
    return Phase(name, begun, begun + seconds, due)


def _make_tenants() -> None:
    from tasks_app.lifecycle.audit import Operator
    from tasks_app.lifecycle.secret_verbs import set_secret

    for tenant in TENANTS:
        execute("INSERT INTO punctual_tenant (name) VALUES (%s)", [tenant])
        set_secret("callbacks", Operator("bench", "a bench"), tenant=tenant)


def _feed(endpoints: Sequence[Endpoint], ports: Sequence[int], phases: Sequence[Phase]) -> None:
    """The calls of each second are scheduled AHEAD of it, in one go for each tenant and lane."""
    from django_punctual import schedule_many

    begin, parts = phases[0].begun, {}
    for phase in phases:
        lane = "high" if phase.name == "high" else "default"
        for number, due in phase.due.items():
            endpoint = endpoints[number]
            payload = {"url": f"http://127.0.0.1:{ports[number]}/calls"} | OPTIONS_OF_CALLS.get(endpoint.behaviour, {})
            for key, at in due.items():
                part = parts.setdefault(int(at - begin), {}).setdefault((endpoint.tenant, lane), [])
                part.append({"key": key, "at": datetime.fromtimestamp(at, UTC), "payload": payload})
    for second in range(max(parts) + 1):
        wait_until(begin + second - AHEAD)
        for (tenant, lane), tasks in parts.get(second, {}).items():
            schedule_many(TYPE, tasks, tenant=tenant, lane=lane)
        if time() > begin + second:
            raise SystemExit("calls were scheduled after they were due: the machine is too busy, or --rate too high")


def _states() -> dict[int, Counter[str]]:
    """What the database says of the calls of each endpoint that were due beside the bad ones."""
    found: dict[int, Counter[str]] = {}
    asked = (
        "SELECT split_part(biz_key, '-', 1)::int, status, count(*) FROM punctual_task"
        " WHERE task_type = %s AND split_part(biz_key, '-', 2) = 'beside' GROUP BY 1, 2"
    )
    for number, status, count in query(asked, [TYPE]):
        found.setdefault(number, Counter())[status] = count
    return found


def _calls(log: Path) -> Iterator[Call]:
    for line in log.read_text().splitlines():
        endpoint, key, received, answered, status = line.split()
        yield Call(int(endpoint), key, float(received), float(answered), int(status))


def _print_states(
    endpoints: Sequence[Endpoint], states: Mapping[int, Counter[str]], calls: Sequence[Call], phase: Phase
) -> None:
    answers = Counter(
        one.endpoint for one in calls if one.answered <= phase.ended and one.key in phase.due[one.endpoint]
    )
    print("  endpoints                  due  answered  states in the database at the end")
    for behaviour in ENDPOINTS:
        group = _of(endpoints, behaviour)
        due, got = (sum(len(phase.due[one.number]) for one in group), sum(answers[one.number] for one in group))
        total = sum((states.get(one.number, Counter()) for one in group), Counter())
        words = ", ".join(f"{count:,} {status}" for status, count in total.most_common())
        print(f"    {len(group):2} {behaviour:16} {due:9,} {got:9,}  {words}")


def _healthy(endpoints: Sequence[Endpoint], calls: Sequence[Call], phases: Sequence[Phase]) -> dict:
    _, alone, beside, high = phases
    healthy = [one.number for one in _of(endpoints, HEALTHY)]
    answered, received = first_answers(calls), first_requests(calls)
    before, after = (
        {number: _answered_in(phase, number, answered) / (phase.ended - phase.begun) for number in healthy}
        for phase in (alone, beside)
    )
    shares = [after[number] / before[number] for number in healthy]
    late = {
        phase.name: [ms for number in healthy for ms in lateness_ms(phase.due[number], received, phase.ended)]
        for phase in (alone, beside, high)
    }
    left = sum(answered.get(key, beside.ended) > beside.begun for number in healthy for key in alone.due[number])
    own = set(healthy)
    took = [(one.answered - one.received) * 1000 for one in calls if one.endpoint in own]
    return {
        "worst_share": round(min(shares), 3),
        "median_share": round(statistics.median(shares), 3),
        "per_s_alone": round(sum(before.values())),
        "per_s_beside": round(sum(after.values())),
        "left_of_alone": left,  # calls that the second phase began with
        "p99_ms_alone": round(percentile(late["alone"], 0.99), 1),
        "p50_ms": round(percentile(late["beside"], 0.5), 1),
        "p99_ms": round(percentile(late["beside"], 0.99), 1),
        "high_p99_ms": round(percentile(late["high"], 0.99), 1),
        "receiver_p99_ms": round(percentile(took, 0.99), 1),
        "called_twice": sum(count - 1 for count in Counter(one.key for one in calls if one.endpoint in own).values()),
    }


def _answered_in(phase: Phase, number: int, answered: Mapping[str, float]) -> int:
    return sum(answered.get(key, phase.ended + 1) <= phase.ended for key in phase.due[number])


def first_answers(calls: Iterable[Call]) -> dict[str, float]:
    """When each task got its success."""
    found: dict[str, float] = {}
    for one in calls:
        if one.status == 200:
            found[one.key] = min(one.answered, found.get(one.key, one.answered))
    return found


def first_requests(calls: Iterable[Call]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in calls:
        found[one.key] = min(one.received, found.get(one.key, one.received))
    return found


def lateness_ms(due: Mapping[str, float], received: Mapping[str, float], ended: float) -> list[float]:
    """Until the first request of each task. One that never came counts with all the time until the end, or the tasks
    that fare worst would be left out."""
    return [(min(received.get(key, ended), ended) - at) * 1000 for key, at in due.items()]


def _recovery(
    endpoints: Sequence[Endpoint], calls: Sequence[Call], phase: Phase, dead: set[str], since: float, rate: int
) -> dict:
    answered, took, never = first_answers(calls), [], 0
    for behaviour in RECOVERING:
        found = []
        for one in _of(endpoints, behaviour):
            # A dead task is no backlog: nothing calls its endpoint any more.
            due = {key: at for key, at in phase.due[one.number].items() if key not in dead}
            served = sorted(answered[key] for key in due if key in answered)
            found.append(recovered_after(sorted(due.values()), served, since, phase.ended, rate))
        never += found.count(None)
        took += [phase.ended - since if seconds is None else seconds for seconds in found]
        words = ", ".join("never" if seconds is None else f"{seconds:.1f} s" for seconds in found)
        print(f"  {behaviour}, healthy again, was served after {words}")
    return {
        "recovery_s": round(max(took), 1),
        "median_recovery_s": round(statistics.median(took), 1),
        "never_recovered": never,
    }


def recovered_after(
    due: Sequence[float], answered: Sequence[float], since: float, ended: float, rate: float
) -> float | None:
    """Seconds until the end of the first window in which an endpoint got SERVED of its rate, and its backlog shrank or
    was less than a second's worth. Both lists are sorted."""

    def backlog(at: float) -> int:
        return bisect_right(due, at) - bisect_right(answered, at)

    for step in range(int((ended - since - WINDOW) / STEP) + 1):
        begun = since + step * STEP
        over = begun + WINDOW
        served = bisect_right(answered, over) - bisect_right(answered, begun)
        if served >= SERVED * rate * WINDOW and (backlog(over) < backlog(begun) or backlog(over) <= rate):
            return over - since
    return None


class _Receiver:
    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process
        self.pid = process.pid
        self.ports: list[int] = json.loads(process.stdout.readline())

    def heal(self, numbers: Sequence[int]) -> None:
        self._process.stdin.write(f"{json.dumps(numbers)}\n")
        self._process.stdin.flush()


@contextmanager
def _receiver(log: Path, endpoints: Sequence[Endpoint]) -> Iterator[_Receiver]:
    """All endpoints, in one process. Its log is whole when the `with` ends."""
    behaviours = json.dumps([one.behaviour for one in endpoints])
    command = [sys.executable, "-c", SERVICE, str(log), behaviours]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield _Receiver(process)
            process.stdin.close()
            process.wait(10)
        finally:
            process.kill()


# Its log has a line for each request that was answered or reset. A line on stdin names endpoints that become healthy.
SERVICE = """
import asyncio, json, socket, struct, sys, time

def answer(status, *more, body=b""):
    head = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(body)}", *more]
    return status, "\\r\\n".join([*head, "", ""]).encode() + body

OK = answer(200, body=b'{"ok":true}')
ANSWERS = {
    "healthy": (0.020, *OK),
    "1 s": (1.0, *OK),
    "20 s": (20.0, *OK),
    "500": (0.020, *answer(500)),
    "404": (0.020, *answer(404)),
    "429": (0.020, *answer(429, "Retry-After: 5")),
    "202": (0.020, *answer(202)),
}
log = open(sys.argv[1], "w", buffering=1 << 16)
behaviours = json.loads(sys.argv[2])

def value(head, name):
    at = head.find(name) + len(name)
    return head[at:].split(b"\\r\\n", 1)[0]

class Receiver(asyncio.Protocol):
    def __init__(self, endpoint):
        self.endpoint, self.waiting = endpoint, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        data = self.waiting + data
        while (end := data.find(b"\\r\\n\\r\\n")) >= 0:
            head = data[:end].lower()
            whole = end + 4 + int(value(head, b"content-length: "))
            if len(data) < whole:
                break
            data = data[whole:]
            self.called(value(head, b"punctual-key: ").decode(), time.time())
        self.waiting = data

    def called(self, key, received):
        behaviour = behaviours[self.endpoint]
        if behaviour == "reset":
            linger = struct.pack("ii", 1, 0)
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.transport.abort()
            self.log(key, received, 0)
        else:
            seconds, status, text = ANSWERS[behaviour]
            asyncio.get_running_loop().call_later(seconds, self.answer, key, received, status, text)

    def answer(self, key, received, status, text):
        if not self.transport.is_closing():
            self.transport.write(text)
            self.log(key, received, status)

    def log(self, key, received, status):
        log.write(f"{self.endpoint} {key} {received:.6f} {time.time():.6f} {status}\\n")

async def main():
    loop, servers = asyncio.get_running_loop(), []
    for endpoint in range(len(behaviours)):
        servers.append(await loop.create_server(lambda of=endpoint: Receiver(of), "127.0.0.1", 0, backlog=1024))
    print(json.dumps([server.sockets[0].getsockname()[1] for server in servers]), flush=True)
    over = asyncio.Event()

    def ordered():
        line = sys.stdin.readline()
        if not line:
            loop.remove_reader(sys.stdin)
            over.set()
        for endpoint in json.loads(line or "[]"):
            behaviours[endpoint] = "healthy"

    loop.add_reader(sys.stdin, ordered)
    await over.wait()
    log.close()

asyncio.run(main())
"""
