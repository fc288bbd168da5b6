"""Safeguards for tests: a real dispatcher and what it gave out, looks at the pulse, and time moved by writing it."""

from collections import Counter
from math import inf

from django.db import connection
from django.db.models.functions import Now

from django_punctual import schedule_many
from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.listener import Listener
from tasks_app.engine.beat.safeguards.guard import guard
from tasks_app.lifecycle.claim import ClaimedBatch
from tasks_app.models import PulseReader, ScheduleTask
from tests.support.engine import anybodys, run_due
from tests.support.marks import LONG_LEASES

# However slow the machine, no lease runs out, and the worker that was seen once is alive.
PATIENT = LONG_LEASES | {"NODE_TTL_SECONDS": 3600.0}
MOMENTS = ("over_since", "calm_since", "stage_since", "ended_at", "order_until")


class Beat:
    """A dispatcher that holds all shards, and gets what it may from now on: what it knew of gates and lanes is old."""

    def __init__(self) -> None:
        self._listener = Listener(nodes.new_node_id())
        self._given: list[ClaimedBatch] = []
        self._dispatcher = Dispatcher("test", self._given.extend, self._listener)

    def close(self) -> None:
        self._listener.close()

    def dispatch(self, looks: int = 8, seconds: float = 0.0) -> list[ClaimedBatch]:
        """What it gives out in a few looks, the first of them so many seconds after the last one before."""
        one = self._dispatcher
        limits = one._limits
        limits.gates._read_at = -inf
        limits.gates._opens = {}
        one._scanner.forget()
        brakes = limits._brakes
        brakes._filled_at = {lane: at - seconds for lane, at in brakes._filled_at.items()}
        one.wake()
        self._given.clear()
        for _ in range(looks):
            one._scanner._positions._full_scan_at = -inf
            one.run_once(anybodys(), conf().SHARDS)
        return list(self._given)


def sizes(batches: list[ClaimedBatch], by: str = "task_type") -> Counter:
    """How many tasks were given out, by type or lane."""
    found: Counter = Counter()
    for batch in batches:
        found[getattr(batch, by)] += batch.size
    return found


def watched() -> None:
    """Beats have looked for an hour, and a worker serves all lanes."""
    nodes.report_worker(nodes.new_node_id(), "w1", 4, list(LANES))
    ((now,),) = _execute("SELECT date_part('epoch', clock_timestamp())")
    PulseReader.objects.create(read_until=Now(), served_since=dict.fromkeys(LANES, now - 3600), sampled_at=None)


def look(seconds: float = 0.0):
    """A look of a beat, so long after the last one: what was counted and known by then is as much older."""
    if seconds:
        age(seconds)
    PulseReader.objects.update(sampled_at=None)
    return guard()


def age(seconds: float) -> None:
    minutes = round(seconds / 60)
    _execute(
        "UPDATE punctual_safeguard SET "
        + ", ".join(f"{name} = {name} - make_interval(secs => %(s)s)" for name in MOMENTS),
        {"s": seconds},
    )
    _execute("UPDATE punctual_pulse SET minute = minute - make_interval(mins => %(m)s + 1000)", {"m": minutes})
    _execute("UPDATE punctual_pulse SET minute = minute + make_interval(mins => 1000)", {})
    _execute("UPDATE punctual_scope_minute SET minute = minute - make_interval(mins => %(m)s + 1000)", {"m": minutes})
    _execute("UPDATE punctual_scope_minute SET minute = minute + make_interval(mins => 1000)", {})
    _execute("UPDATE punctual_dead_letter SET created_at = created_at - make_interval(secs => %(s)s)", {"s": seconds})


def ran(task_type: str, ok: int = 0, failed: int = 0, *, do: str = "retry", **options) -> None:
    """So many tasks of a type run, and so many fail; their retries come much later."""
    mark = ScheduleTask.objects.count()
    bad = {"do": do, "after": 3600} if do == "retry" else {"do": do}
    tasks = [{"key": f"{mark} ok {n}"} for n in range(ok)]
    tasks += [{"key": f"{mark} bad {n}", "payload": bad} for n in range(failed)]
    schedule_many(task_type, tasks, **options)
    run_due()


def many(task_type: str, number: int, **options) -> list[int]:
    mark = ScheduleTask.objects.count()
    return [one.task_id for one in schedule_many(task_type, [{"key": f"{mark} {n}"} for n in range(number)], **options)]


def overdue(task_ids: list[int], seconds: float) -> None:
    """They have been due for so long, and could have started."""
    _execute(
        "UPDATE punctual_task SET due_at = clock_timestamp() - make_interval(secs => %(s)s), allowed_at = NULL"
        " WHERE id = ANY (%(ids)s)",
        {"s": seconds, "ids": task_ids},
    )


def _execute(statement: str, params: dict | None = None) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params or {})
        return cursor.fetchall() if cursor.description else []
