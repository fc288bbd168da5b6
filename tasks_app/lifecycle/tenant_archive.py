"""A tenant goes into the archive: it is stopped and closed, all that is its own is written there and read back, and
only then removed here; in steps, each of which can be done again.

It goes in rounds. A round begins when all transactions have ended that may not know of the last change here, and when
nothing of the tenant runs any more. It writes what there is, and removes exactly that. The tenant is archived when a
round finds nothing. Whoever dies on the way, or is stopped, leaves a state from which the next goes on.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, NothingToDo, NotThere, shown
from tasks_app.core.phrases import counted
from tasks_app.core.tenants import DEFAULT_TENANT, INTERNAL_TENANT, QUOTAS, TENANT_LENGTH
from tasks_app.database import atomic
from tasks_app.documentation import page
from tasks_app.models import Tenant, TenantArchive, TenantKey
from tasks_app.sql import run

from . import tenant_keys
from .audit import Entry, Operator, audit
from .outbox import tell
from .request import checked_name

if TYPE_CHECKING:
    from tasks_app.archive.place import Place
    from tasks_app.archive.tenants import Piece, Written

log = logging.getLogger(__name__)

LEASE_SECONDS = 120.0
RENEW_SECONDS = 20.0
CHUNK = 2_000  # rows that one transaction removes
ERROR_LENGTH = 300


class Overtaken(Exception):
    """Another beat works on it, or somebody has stopped it."""


class Held(NamedTuple):
    """A tenant that is ours to archive."""

    tenant: str
    fence: int


def begin(name: str, operator: Operator, *, destroy_key: bool = False) -> TenantArchive:
    """From the commit on nothing of it is started, planned or taken any more; the beats do the rest."""
    _refuse_ours(checked_name("tenant", name, TENANT_LENGTH))
    with atomic(savepoint=False):
        row = Tenant.objects.select_for_update().filter(name=name).first()
        if row is None:
            raise NotThere(f"there is no tenant {name!r}; `manage.py tenant list` has all that there are.")
        _refuse_without_archive()
        before = TenantArchive.objects.filter(tenant=name).first()
        if row.archived:
            raise NothingToDo(f"tenant {name!r} was archived on {row.since:%Y-%m-%d} by {row.changed_by} already.")
        if before is not None:
            raise NothingToDo(
                f"tenant {name!r} is being archived already; its archiving is {before.state.lower()}. "
                "`manage.py tenant archive NAME --continue` goes on with one that was stopped."
            )
        now = _now()
        if not row.suspended:
            row.since = now
        row.state, row.until, row.reason, row.changed_by = Tenant.SUSPENDED, None, operator.reason, operator.name
        row.closed = True
        row.save()
        made = TenantArchive.objects.create(
            tenant=name,
            folder=_folder_of(name, now),
            destroy_key=destroy_key,
            reason=operator.reason,
            ordered_by=operator.name,
        )
        _audit(operator, name, "archive", "begun", {"folder": made.folder, "destroy_key": destroy_key})
        tell("tenant.archiving", {"name": name, "by": operator.name, "reason": operator.reason}, tenant=name)
    begun: TenantArchive = TenantArchive.objects.get(tenant=name)
    return begun


def stop(name: str, operator: Operator) -> TenantArchive:
    """Between two steps. The tenant stays closed; it can be resumed only if nothing was removed yet."""
    return _switch(name, operator, TenantArchive.RUNNING, TenantArchive.STOPPED, "stop", "stopped")


def go_on(name: str, operator: Operator) -> TenantArchive:
    return _switch(name, operator, TenantArchive.STOPPED, TenantArchive.RUNNING, "continue", "continued")


def give_up(row: Tenant) -> None:
    """For whoever resumes the tenant, whose row is locked: its archiving is forgotten, if that can still be."""
    found = TenantArchive.objects.select_for_update().filter(tenant=row.name).first()
    if found is None:
        return
    if found.state == TenantArchive.RUNNING:
        raise InvalidTask(
            f"tenant {row.name!r} is being archived. Stop that first: `manage.py tenant archive {row.name} --stop`."
        )
    if found.removed or found.phase == TenantArchive.REMOVE:
        raise InvalidTask(
            f"{found.removed:,} rows of tenant {row.name!r} are in the archive alone by now, so it can't be resumed. "
            f"`manage.py tenant archive {row.name} --continue` goes on with it."
        )
    found.delete()
    row.closed = False


def archive_of(name: str) -> TenantArchive | None:
    row: TenantArchive | None = TenantArchive.objects.filter(tenant=name).first()
    return row


def would_move(name: str) -> dict[str, int]:
    """What archiving it would write and remove: how many rows of what."""
    from tasks_app.archive.tenants import counts

    _refuse_ours(checked_name("tenant", name, TENANT_LENGTH))
    _refuse_without_archive()
    return counts(name)


# ---- what the beats do ----


def take(holder: str, but: list[str]) -> Held | None:
    """One that nobody else works on, and that is none of these."""
    rows = run("take_tenant_archive", {"holder": holder[:200], "lease": LEASE_SECONDS, "but": but})
    return Held(*rows[0]) if rows else None


def work(place: "Place", mine: Held, pulse: Callable[[], None] = lambda: None) -> bool:
    """Step by step, as far as it goes now. True: it is done. Raises what went wrong between us and the archive."""
    place.check()
    beat = _Pulse(mine, pulse)
    while True:
        row = TenantArchive.objects.filter(tenant=mine.tenant, fence=mine.fence).first()
        if row is None or row.state == TenantArchive.STOPPED:
            raise Overtaken(mine.tenant)
        if row.state == TenantArchive.DONE:
            return True
        beat()  # not before that: what is done has no lease any more
        if not _STEPS[row.phase](place, row, mine, beat):
            return False


def release(mine: Held, error: str = "") -> None:
    """For others, or for later."""
    TenantArchive.objects.filter(tenant=mine.tenant, fence=mine.fence).update(
        held_until=None, error=error[:ERROR_LENGTH]
    )


class _Pulse:
    """Called between two pieces of work: renews the lease, and ends it all if it is not ours any more."""

    def __init__(self, mine: Held, pulse: Callable[[], None]) -> None:
        self._mine, self._pulse, self._renewed = mine, pulse, monotonic()

    def __call__(self) -> None:
        self._pulse()
        if monotonic() - self._renewed < RENEW_SECONDS:
            return
        if not run("hold_tenant_archive", self._mine._asdict() | {"lease": LEASE_SECONDS}):
            raise Overtaken(self._mine.tenant)
        self._renewed = monotonic()


def _wait(place: "Place", row: TenantArchive, mine: Held, pulse: _Pulse) -> bool:
    """Whoever may not know that it is closed ends first, and then what runs."""
    from tasks_app.archive.tenants import pieces

    there: dict[int, int] = dict(run("in_flight", {}))
    known = there.keys() if row.in_flight is None else there.keys() & row.in_flight
    if known:
        pids = ", ".join(str(there[one]) for one in sorted(known))
        _note(mine, in_flight=sorted(known), waits_for=f"the end of transactions of the database processes {pids}")
        return False
    [(running,)] = run("under_way", {"tenant": row.tenant})
    if running:
        _note(mine, in_flight=[], waits_for=f"{counted(running, 'task')} that still run or are away")
        return False
    todo = [list(one) for one in pieces()]
    _note(mine, phase=TenantArchive.EXPORT, todo=todo, in_flight=None, waits_for="")
    return True


def _export(place: "Place", row: TenantArchive, mine: Held, pulse: _Pulse) -> bool:
    """One table, or one partition: written, read back, noted."""
    from tasks_app.archive.tenants import TABLES, Piece, Written, export, is_left

    parts = [Written(*one) for one in row.parts]
    fresh = [one for one in parts if one.round == row.round]
    if row.todo:
        piece = Piece(*row.todo[0])
        tasks = [one for one in fresh if one.table in ("tasks", "past")]
        label = f"{row.round}-{mine.fence}"
        found = [one._replace(round=row.round) for one in _exported(export, place, piece, row, label, tasks, pulse)]
        rows = sum(one.rows for one in found)
        _note(mine, todo=row.todo[1:], parts=[*row.parts, *map(list, found)], exported=row.exported + rows)
        return True
    if fresh:
        _manifest(place, row, parts, complete=False)
        order = [one.name for one in TABLES]
        fresh.sort(key=lambda one: order.index(one.table))
        _note(mine, phase=TenantArchive.REMOVE, todo=[list(one) for one in fresh])
        return True
    if is_left(row.tenant):
        _next_round(row, mine)
        return True
    _manifest(place, row, parts, complete=True)
    _finish(mine)
    return True


def _exported(
    export: Callable[..., list["Written"]],
    place: "Place",
    piece: "Piece",
    row: TenantArchive,
    label: str,
    tasks: Sequence["Written"],
    pulse: _Pulse,
) -> list["Written"]:
    number = sum(1 for one in row.parts if one[0] == piece.table and one[-1] == row.round)
    return export(place, piece, row.tenant, row.folder, f"{label}-{number:04}", tasks, pulse)


def _remove(place: "Place", row: TenantArchive, mine: Held, pulse: _Pulse) -> bool:
    """What one file has, once more read back."""
    from tasks_app.archive.tenants import Written, check, remove, rows_in

    if not row.todo:
        _next_round(row, mine)
        return bool(row.removed == row.exported)  # else something is in use, and may be free in a few seconds
    file = Written(*row.todo[0])
    check(place, file, pulse)
    for keys, xmins in rows_in(place, file, CHUNK):
        pulse()
        with atomic():
            _lock(mine)
            if gone := remove(file.table, keys, xmins):
                row.removed += gone
                _note(mine, removed=row.removed)
    _note(mine, todo=row.todo[1:])
    return True


_STEPS = {TenantArchive.WAIT: _wait, TenantArchive.EXPORT: _export, TenantArchive.REMOVE: _remove}


def _next_round(row: TenantArchive, mine: Held) -> None:
    _note(mine, phase=TenantArchive.WAIT, round=row.round + 1, todo=[], in_flight=None)


def _finish(mine: Held) -> None:
    with atomic():
        found = _lock(mine)
        row = Tenant.objects.select_for_update().get(name=mine.tenant)
        row.state, row.since, row.until, row.reason = Tenant.ARCHIVED, _now(), None, found.reason
        row.changed_by, row.encrypted, row.at_limit = found.ordered_by, False, False
        row.near, row.tasks, row.jobs = [], None, None
        for quota in QUOTAS:
            setattr(row, quota, None)
        row.save()
        operator = Operator(found.ordered_by, found.reason)
        if found.destroy_key and TenantKey.objects.filter(tenant=row.name, destroyed_at__isnull=True).exists():
            tenant_keys.destroy(row.name, operator)
        TenantArchive.objects.filter(tenant=row.name).update(
            state=TenantArchive.DONE, todo=[], waits_for="", error="", held_until=None, updated_at=_now()
        )
        detail = {"folder": found.folder, "rows": found.removed}
        _audit(operator, row.name, "archive", "archived", detail)
        tell("tenant.archived", {"name": row.name, "by": operator.name} | detail, tenant=row.name)
    log.info("tenant.archived tenant=%s rows=%d folder=%s", row.name, found.removed, found.folder)


def _lock(mine: Held) -> TenantArchive:
    """Nobody can take it over, or stop it, before this transaction ends."""
    found: TenantArchive | None = (
        TenantArchive.objects.select_for_update()
        .filter(tenant=mine.tenant, fence=mine.fence, state=TenantArchive.RUNNING)
        .first()
    )
    if found is None:
        raise Overtaken(mine.tenant)
    return found


def _note(mine: Held, **fields: object) -> None:
    running = TenantArchive.objects.filter(tenant=mine.tenant, fence=mine.fence, state=TenantArchive.RUNNING)
    if not running.update(**fields, updated_at=_now()):
        raise Overtaken(mine.tenant)


def _manifest(place: "Place", row: TenantArchive, parts: list[Any], *, complete: bool) -> None:
    from tasks_app.archive.tenants import write_manifest

    told = {"tenant": row.tenant, "by": row.ordered_by, "reason": row.reason, "complete": complete}
    told |= {"ordered_at": row.ordered_at.isoformat(), "at": _now().isoformat()}
    write_manifest(place, row.folder, told, parts)


def _switch(name: str, operator: Operator, old: str, new: str, verb: str, outcome: str) -> TenantArchive:
    with atomic(savepoint=False):
        row: TenantArchive | None = TenantArchive.objects.select_for_update().filter(tenant=name).first()
        if row is None:
            raise NotThere(f"tenant {shown(name)} is not being archived. `manage.py tenant archive` begins it.")
        if row.state != old:
            raise NothingToDo(f"the archiving of tenant {name!r} is {row.state.lower()}; nothing was changed.")
        row.state, row.error, row.updated_at = new, "", _now()
        row.save(update_fields=["state", "error", "updated_at"])
        _audit(operator, name, verb, outcome, {"phase": row.phase, "removed": row.removed})
    return row


def _refuse_ours(name: str) -> None:
    if name in (DEFAULT_TENANT, INTERNAL_TENANT):
        whose = "the scheduler's own tasks" if name == INTERNAL_TENANT else "the tasks of whoever names no tenant"
        raise InvalidTask(f"tenant {name!r} has {whose}, and can't be archived.")


def _refuse_without_archive() -> None:
    if not conf().ARCHIVE_URL:
        raise InvalidTask(
            "there is no archive: ARCHIVE_URL is not set. Name a folder or a bucket there, for all processes, as "
            f"{page('archive')} says."
        )


def _folder_of(name: str, at: datetime) -> str:
    from tasks_app.archive.tenants import folder_of

    return folder_of(name, at)


def _audit(operator: Operator, name: str, verb: str, outcome: str, detail: dict[str, Any]) -> None:
    audit(operator, verb, [Entry(f"tenant {name}", outcome, detail=detail, tenant=name)])


def _now() -> datetime:
    now: datetime = run("clock", {})[0][0]
    return now
