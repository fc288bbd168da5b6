"""The hosts that callbacks go to: what a batch may ask of them, what became of its calls, and their limits.

A host without a limit that answers costs one look a batch. Places are held under the batch, and a try of a host that is
unwell belongs to it: when it is finished, or its worker died and it was reaped, both are free again.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.errors import NotThere
from tasks_app.core.hosts import HOST_UNWELL, LONGEST_TRY_SECONDS, checked_host_name, checked_limit, shared_out
from tasks_app.database import atomic
from tasks_app.models import Host, HostHealth
from tasks_app.sql import run

from .audit import Entry, Operator, audit
from .outbox import tell
from .waiting import MOST_RELEASED, release_slowly

log = logging.getLogger(__name__)

ERROR_LENGTH = 300
HELD_SECONDS = 30.0  # after which tasks ask again for a host that a safeguard holds


class Called(NamedTuple):
    """A host as one tenant calls it: what it fails is judged for each tenant, so that none can close it for another."""

    tenant: str
    host: str


@dataclass(frozen=True, slots=True)
class Leave:
    """What a batch may ask of a host."""

    places: int | None = None  # calls at the same time; None: as many as it likes
    permits: int | None = None  # calls in all; None: all
    max_running: int | None = None
    rate: float | None = None
    filled: float = 0.0  # what was in the bucket
    failures: int = 0  # in a row so far
    unwell: bool = False  # its tasks wait
    tries: bool = False  # but one of this batch tries it
    try_in: float = 0.0  # seconds until the next one may
    tried: int = 0  # in vain, so far
    asking: int = 0  # tasks that were sent back since the last try
    crowd: int = 0  # tasks that wait for it, about
    held: bool = False  # by a safeguard: nothing tries it


@dataclass(slots=True)
class Seen:
    """What became of a batch's calls to a host."""

    answered: bool = False  # at least once
    failed: list[int] = field(default_factory=list)  # ids of tasks, since it last answered
    error: str = ""
    least: float | None = None  # seconds that the receiver has asked for


class Unwell(NamedTuple):
    """A host that has failed, after another failure was noted."""

    tenant: str
    host: str
    error: str
    unwell: bool
    try_in: float | None
    failures: int
    tries: int


class Noted(NamedTuple):
    failing: dict[Called, Unwell]
    well_again: list[Called]  # that were unwell


NOTHING_KNOWN = Leave()


def unwell_words(host: str) -> str:
    """The start of the error text of a task that waits for this host."""
    return f"{host} is unwell:"


def ask(batch_no: UUID, wanted: Mapping[Called, int], most: int) -> dict[Called, Leave]:
    """What this batch may ask of each host for so many tasks; `most` calls at the same time are all it could make."""
    rows = run("read_hosts", _pairs(wanted) | {"held_for": HELD_SECONDS})
    leaves = {
        Called(tenant, host): Leave(
            failures=len(tasks or ()),
            unwell=unwell,
            try_in=max(0.0, try_in or 0.0),
            tried=tried or 0,
            asking=returned or 0,
            crowd=crowd or 0,
            held=held,
        )
        for tenant, host, _, tasks, unwell, try_in, tried, returned, crowd, held in rows
    }
    trying = [called for called, leave in leaves.items() if leave.unwell and leave.try_in <= 0]
    for tenant, host in run("try_hosts", _pairs(trying) | {"batch_no": batch_no}) if trying else ():
        leaves[Called(tenant, host)] = replace(leaves[Called(tenant, host)], tries=True)
    limited = {called for called in leaves if any(row[2] for row in rows if row[1] == called.host)}
    open_ones = {one: wanted[one] for one in limited if not leaves[one].unwell or leaves[one].tries}
    return leaves | (_held(batch_no, open_ones, leaves, most) if open_ones else {})


def _held(
    batch_no: UUID, wanted: Mapping[Called, int], leaves: Mapping[Called, Leave], most: int
) -> dict[Called, Leave]:
    """With the places and permits that it got; those of a host are shared out between the tenants that call it."""
    tasks: dict[str, int] = {}
    for called, number in wanted.items():
        tasks[called.host] = tasks.get(called.host, 0) + (1 if leaves[called].tries else number)
    with atomic(savepoint=False):
        run("lock_hosts", {"hosts": sorted(tasks)})
        given = {"hosts": list(tasks), "tasks": list(tasks.values()), "batch_no": batch_no, "most": most}
        got = {host: rest for host, *rest in run("hold_permits", given)}
    held = {}
    for host, (places, permits, max_running, rate, filled, _) in got.items():  # some may have no limit any more
        callers = [called for called in wanted if called.host == host]
        own = shared_out(permits, [1 if leaves[called].tries else wanted[called] for called in callers])
        for called, calls, share in zip(callers, own, shared_out(places, own), strict=True):
            held[called] = replace(
                leaves[called],
                places=None if max_running is None else share,
                permits=None if rate is None else calls,
                max_running=max_running,
                rate=rate,
                filled=filled or 0.0,
            )
    return held


def release(batch_no: UUID, leaves: Mapping[Called, Leave]) -> None:
    """The calls are over; what it holds would else be free when the batch is finished."""
    hosts = sorted({called.host for called, leave in leaves.items() if leave.places})
    if hosts:
        run("release_permits", {"hosts": hosts, "batch_no": batch_no})


def give_back(unused: Mapping[str, int]) -> None:
    """Permits of calls that were not made."""
    with atomic(savepoint=False):
        run("lock_hosts", {"hosts": sorted(unused)})
        run("return_permits", {"hosts": list(unused), "permits": list(unused.values())})


def note(batch_no: UUID, seen: Mapping[Called, Seen], known: Mapping[Called, Leave]) -> Noted:
    """Write down which hosts have failed, and which have answered again. What was well and is, costs nothing."""
    well = [one for one, it in seen.items() if it.answered and not it.failed and known.get(one, NOTHING_KNOWN).failures]
    failing = [one for one, it in seen.items() if it.failed]
    rows = run("note_well", _pairs(well)) if well else ()
    well_again = [Called(tenant, host) for tenant, host, was_unwell in rows if was_unwell]
    for tenant, host in well_again:
        log.info("host.well tenant=%s host=%s", tenant, host)
    return Noted(_note_failing(batch_no, seen, failing) if failing else {}, well_again)


def count_returned(returned: Mapping[Called, int]) -> list[Called]:
    """So many tasks are sent back since these hosts are unwell. Returns the hosts that still are."""
    rows = run("count_returned", _pairs(returned) | {"tasks": list(returned.values())})
    return [Called(tenant, host) for tenant, host, unwell in rows if unwell]


def recovered(called: Sequence[Called]) -> list[Called]:
    """Those of these hosts that are not unwell."""
    named = HostHealth.objects.filter(tenant__in={one.tenant for one in called}, host__in={one.host for one in called})
    unwell = {Called(*row) for row in named.filter(unwell_since__isnull=False).values_list("tenant", "host")}
    return [one for one in called if one not in unwell]


def release_waiting(called: Called, most: int = MOST_RELEASED) -> dict[int, float]:
    """Make tasks due that wait until this host is well, one after the other. Returns the first due time in each
    shard."""
    return release_slowly(HTTP_CALLBACK, called.tenant, HOST_UNWELL, unwell_words(called.host), most)


def _note_failing(batch_no: UUID, seen: Mapping[Called, Seen], failing: Sequence[Called]) -> dict[Called, Unwell]:
    told = [
        {
            "tenant": one.tenant,
            "host": one.host,
            "failed": seen[one].failed,
            "error": seen[one].error[:ERROR_LENGTH],
            "anew": seen[one].answered,
            "least": seen[one].least,
        }
        for one in failing
    ]
    first = conf().HOST_TRY_SECONDS
    limits = {"most": conf().HOST_FAILURES, "first": first, "longest": max(first, LONGEST_TRY_SECONDS)}
    rows = [Unwell(*row) for row in run("note_failing", limits | {"given": json.dumps(told), "batch_no": batch_no})]
    for row in rows:
        if row.unwell:
            words = "host.unwell tenant=%s host=%s failures=%d tries=%d error=%r"
            log.warning(words, row.tenant, row.host, row.failures, row.tries, row.error)
    return {Called(row.tenant, row.host): row for row in rows}


def limit(
    host: str,
    operator: Operator,
    *,
    max_running: int | None = None,
    rate: float | None = None,
    burst: float | None = None,
) -> Host:
    """From now on it is asked for no more than that, by all workers together."""
    name, wanted = checked_host_name(host), checked_limit(max_running, rate, burst)
    figures = {"max_running": wanted.max_running, "rate": wanted.rate, "burst": wanted.burst}
    with atomic(savepoint=False):
        before = Host.objects.select_for_update().filter(host=name).first()
        if before is None:
            new = figures | {"permits": wanted.burst or 0.0, "created_by": operator.name}
            row, made = Host.objects.get_or_create(host=name, defaults=new)
            old = None if made else _figures(row)
        else:
            row, old = before, _figures(before)
        if old is not None:
            for column, value in figures.items():
                setattr(row, column, value)
            row.permits = min(row.permits, wanted.burst or 0.0) if old["rate"] else wanted.burst or 0.0
            row.updated_at = Now()
            row.save()
        audit(operator, "limit", [Entry(f"host {name}", "limited", detail={"before": old, "after": figures})])
        _tell_changed(name, old, figures, operator)
    limited: Host = Host.objects.get(host=name)
    return limited


def lift(host: str, operator: Operator) -> None:
    """It is asked for as much as there is from now on. Raises NotThere."""
    name = checked_host_name(host)
    with atomic(savepoint=False):
        row = Host.objects.select_for_update().filter(host=name).first()
        if row is None:
            raise NotThere(f"Host {name!r} has no limit.")
        Host.objects.filter(host=name).delete()
        audit(operator, "lift", [Entry(f"host {name}", "lifted", detail={"before": _figures(row)})])
        _tell_changed(name, _figures(row), None, operator)


def try_now(called: Called, operator: Operator) -> dict[int, float] | None:
    """One of its tasks tries it now, and if it gets an answer, the others follow. Returns the due time of that one by
    its shard; None if the host is not unwell."""
    with atomic(savepoint=False):
        found = HostHealth.objects.filter(tenant=called.tenant, host=called.host, unwell_since__isnull=False)
        if not found.update(try_at=Now()):
            return None
        audit(operator, "try", [Entry(f"host {called.host}", "to be tried", tenant=called.tenant)])
        return release_waiting(called, 1)


def _tell_changed(host: str, old: dict[str, Any] | None, new: dict[str, Any] | None, operator: Operator) -> None:
    if old != new:
        tell("limit.host_changed", {"host": host, "old": old, "new": new, "by": operator.name})


def _figures(row: Host) -> dict[str, float | None]:
    return {"max_running": row.max_running, "rate": row.rate, "burst": row.burst}


def _pairs(called: Sequence[Called] | Mapping[Called, int]) -> dict[str, list[str]]:
    return {"tenants": [one.tenant for one in called], "hosts": [one.host for one in called]}
