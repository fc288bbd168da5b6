"""What is over leaves the table of what is live; and comes back when something has to take over from it."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError
from django.db.models import Q
from psycopg.errors import CheckViolation

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.retention import DEFAULT_CLASS, RetentionClass
from tasks_app.database import atomic
from tasks_app.models import Tenant
from tasks_app.sql import array, run

from .request import Unit

BATCHES = 500  # in one step, at most
TASKS = 2_000  # in one step, about: whoever wants one of them waits for less than a tenth of a second
STRETCH = 10_000  # ids among which one step moves strays
AHEAD = 40_000  # ids that one statement looks at for the first of them
FAMILY = "punctual_past"


class Moved(NamedTuple):
    batches: int
    tasks: int
    late: float | None  # seconds by which the first of them went later than it could have; None: there was none


class Walked(NamedTuple):
    last: int | None  # where the stretch ended; None: there are no more ids
    tasks: int


class PastRow(NamedTuple):
    """A row of past_units: a unit whose current row is over."""

    id: int
    status: str
    due: bool
    idem_key: str | None
    updated_at: datetime


def move_batches(batches: int = BATCHES, tasks: int = TASKS) -> Moved:
    """Move what finished more than KEEP_LIVE_SECONDS ago, the oldest first; one step, one transaction."""
    asked = {"batches": batches, "tasks": tasks, "keep": conf().KEEP_LIVE_SECONDS} | _of_classes()
    return Moved(*_moving("move_batches", asked))


def move_strays(after: int, ahead: int = AHEAD) -> Walked:
    """Move what is over among the next ids and belongs to no batch that is still here; from the first such one on."""
    last, first = run("stray_ahead", {"after": after, "step": ahead, "keep": conf().KEEP_LIVE_SECONDS})[0]
    if first is None:
        return Walked(last, 0)
    asked = {"after": first - 1, "step": STRETCH, "keep": conf().KEEP_LIVE_SECONDS} | _of_classes()
    return Walked(*_moving("move_strays", asked))


def past_units(units: Sequence[Unit]) -> dict[Unit, PastRow]:
    """The newest current row of each of these units that is over, as long as it is in its hot time."""
    if not units:
        return {}
    tenants, types, keys = zip(*units, strict=True)
    asked = {"tenants": list(tenants), "types": list(types), "keys": list(keys)} | hot_times()
    return {(tenant, type_, key): PastRow(*rest) for tenant, type_, key, *rest in run("past_units", asked)}


def past_idem(keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Of these (tenant, idem_key), those that something holds which is over and in its hot time, with its id."""
    if not keys:
        return {}
    tenants, idem_keys = zip(*keys, strict=True)
    asked = {"tenants": list(tenants), "idem_keys": list(idem_keys)} | hot_times()
    return {(tenant, key): task_id for tenant, key, task_id in run("past_idem", asked)}


def bring_back(ids: Sequence[int]) -> bool:
    """Put these rows back among what is live, finished as they were. False: a place was taken, and none was moved."""
    try:
        with atomic():
            ((gone, back),) = run("bring_back", hot_times() | {"ids": array(ids)})
            if gone != back:
                raise _PlaceTaken
    except _PlaceTaken:
        return False
    return True


class _PlaceTaken(Exception):
    """Another row of the unit, or one with the same idem_key, is live meanwhile."""


def hot_times() -> dict[str, object]:
    """The classes, and for how many seconds what is over is known in each."""
    classes = conf().retention_classes.values()
    return {"classes": [one.name for one in classes], "hot": [one.hot.total_seconds() for one in classes]}


def _of_classes() -> dict[str, list[Any]]:
    """The retention class of each type and tenant that is in another than the default; and of tenants with a quota, the
    class that their past goes to if it would be kept for too long."""
    classes = conf().retention_classes
    types = {handler.name: handler.retention for handler in REGISTRY if handler.retention}
    tenants = {tenant: one.name for one in classes.values() for tenant in one.tenants}
    own = Q(retention__gt="") | Q(max_history_days__isnull=False)
    rows = list(Tenant.objects.filter(own).values_list("name", "retention", "max_history_days"))
    tenants |= {name: retention for name, retention, _ in rows if retention in classes}
    bounded = {name: days for name, _, days in rows if days is not None}
    return {
        "class_names": list(classes),
        "class_days": [float(kept_days(one)) for one in classes.values()],
        "bounded": list(bounded),
        "bounds": [float(days) for days in bounded.values()],
        "shorter": [longest_within(days).name for days in bounded.values()],
        "types": list(types),
        "type_classes": list(types.values()),
        "tenants": list(tenants),
        "tenant_classes": list(tenants.values()),
    }


def kept_days(one: RetentionClass) -> float:
    """How old what is in it gets: without an archive it goes after its hot days."""
    return max(one.hot_days, one.cold_days) if conf().ARCHIVE_URL else one.hot_days


def longest_within(days: float) -> RetentionClass:
    """The class that keeps things longest, but no longer than that; else the one that keeps them shortest."""
    classes = sorted(conf().retention_classes.values(), key=kept_days)
    return next((one for one in reversed(classes) if kept_days(one) <= days), classes[0])


def retention_of(tenant: str, task_type: str) -> RetentionClass:
    """The class in which what is over of this type and tenant is kept; as class_of.sql has it."""
    of, classes = _of_classes(), conf().retention_classes
    types = dict(zip(of["types"], of["type_classes"], strict=True))
    tenants = dict(zip(of["tenants"], of["tenant_classes"], strict=True))
    found = classes.get(types.get(task_type) or tenants.get(tenant) or DEFAULT_CLASS, classes[DEFAULT_CLASS])
    bound = dict(zip(of["bounded"], of["bounds"], strict=True)).get(tenant)
    return found if bound is None or kept_days(found) <= bound else longest_within(bound)


def _moving(statement: str, asked: Mapping[str, object]) -> tuple[Any, ...]:
    """Run it, and make each partition that it turns out to need: those of today are there, not those of long ago."""
    while True:
        try:
            with atomic():
                return run(statement, asked)[0]
        except IntegrityError as error:
            missing = _missing_partition(error)
            if missing is None:
                raise
            _make(*missing)


def _missing_partition(error: IntegrityError) -> tuple[str, str] | None:
    """The table that had no partition for a row, and the row's key; None: it is another error."""
    diagnosis = error.__cause__.diag if isinstance(error.__cause__, CheckViolation) else None
    if diagnosis is None:
        return None
    found = re.search(r"\((?:retention|updated_at|finished_at)\) = \((.+)\)", diagnosis.message_detail or "")
    return (diagnosis.table_name, found[1]) if found and diagnosis.table_name else None


def _make(family: str, key: str) -> None:
    if family == FAMILY:
        run("make_class", {"retention": key})
    else:
        from tasks_app.storage.partitions import make

        make(family, [datetime.fromisoformat(key)], conf().partition_span)
