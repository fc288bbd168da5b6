"""start: a campaign and the tasks, or firings, that it is for, chosen once, in one transaction."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from tasks_app.core.backfill import KIND, Which
from tasks_app.core.campaigns import CAP, CHUNK, MOST, UNDO, checked_cap, checked_most_running, checked_rate
from tasks_app.core.errors import InvalidTask, NothingToDo
from tasks_app.core.lanes import LANES
from tasks_app.core.moves import Move
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.outbox import tell
from tasks_app.lifecycle.quotas import refuse_archived
from tasks_app.lifecycle.retry_limit import refuse_many_orders
from tasks_app.lifecycle.safeguards.curbs import refuse_backfills
from tasks_app.models import Backfill, Campaign, CampaignChunk
from tasks_app.sql import run

LANE = "backfill"  # where released tasks wait, unless they are told otherwise
OWN_LANE = "own"  # each in the lane that it has
SELECT_SECONDS = 20.0  # for choosing the tasks; then it goes with those that were found
ALONE = "alone"  # an option of a backfill: what comes after its jobs does not come along
UNDOES = "undoes"  # an option of an undo: the operation that it undoes
TYPES = "types"  # an option of a backfill: the types of what comes along
_TOLD = ("at", "by", "over", UNDOES)  # options that the audit has, too
RELEASES = (Verb.RETRY, Verb.REPLAY, KIND)  # these make tasks run


class Slot(NamedTuple):
    """One firing of a job that a backfill is for."""

    job: int
    at: datetime
    task: int = 0  # the instance that is replayed; 0: one is made


class Stretch(NamedTuple):
    """The range of a backfill, for one job."""

    job: int
    since: datetime
    until: datetime


def start(
    kind: Verb,
    pages: Iterable[Sequence[int]],
    operator: Operator,
    *,
    cap: int = CAP,
    rate: float | None = None,
    lane: str = LANE,
    most_running: int | None = None,
    move: Move | None = None,
    tenant: str | None = None,
    task_type: str | None = None,
    selection: str = "",
    seconds: float = SELECT_SECONDS,
) -> Campaign:
    """Begin a campaign for the tasks with these ids, page by page and no more than `cap`; the beats do the rest.

    Called again with the same operation it returns the campaign that there is. `tenant` and `task_type`: what all of
    the tasks have in common; the caller has made sure of it. `selection`: what they are, in words.
    """
    if kind == KIND:
        raise InvalidTask("a backfill is for jobs and their firings; give those.")
    if most_running is not None and kind not in RELEASES:
        raise InvalidTask(f"most_running={most_running!r}: a {kind} makes no task run. Leave it out.")
    pace = {"cap": checked_cap(cap), "rate": checked_rate(rate), "most_running": checked_most_running(most_running)}
    about = {"tenant": tenant, "task_type": task_type, "selection": selection, "options": _options(kind, lane, move)}
    return _begin(kind, {**pace, **about}, operator, lambda begun: _choose(begun, pages, time.monotonic() + seconds))


def start_undo(
    undoes: UUID,
    pages: Iterable[Sequence[int]],
    operator: Operator,
    *,
    tenant: str | None,
    task_type: str | None,
    selection: str,
    seconds: float = SELECT_SECONDS,
) -> Campaign:
    """Begin a campaign that puts back the tasks that another operation has moved or cancelled."""
    pace = {"cap": MOST, "rate": None, "most_running": None}
    about = {"tenant": tenant, "task_type": task_type, "selection": selection, "options": {UNDOES: str(undoes)}}
    return _begin(UNDO, {**pace, **about}, operator, lambda begun: _choose(begun, pages, time.monotonic() + seconds))


def start_backfill(
    which: Which,
    slots: Iterable[Slot],
    stretches: Sequence[Stretch],
    operator: Operator,
    *,
    cap: int = CAP,
    rate: float | None = None,
    lane: str = LANE,
    most_running: int | None = None,
    tenant: str,
    task_type: str | None,
    selection: str = "",
    descendants: bool = True,
    along: Set[str] = frozenset(),
) -> Campaign:
    """Begin a campaign that makes up for these firings, in this order; the caller has made sure that they are no more
    than `cap`. Called again with the same operation it returns the campaign that there is. `descendants`: what comes
    after their jobs comes along; `along`: the types of that."""
    pace = {"cap": checked_cap(cap), "rate": checked_rate(rate), "most_running": checked_most_running(most_running)}
    options = {"which": str(which), **_lane(lane), **({} if descendants else {ALONE: True})}
    if along:
        options[TYPES] = sorted(along)
    about = {"tenant": tenant, "task_type": task_type, "selection": selection, "options": options}

    def choose(begun: Campaign) -> tuple[int, bool]:
        refuse_backfills([stretch.job for stretch in stretches], tenant, along)
        Backfill.objects.bulk_create([Backfill(campaign=begun, **stretch._asdict()) for stretch in stretches])
        return _keep_slots(begun, slots), False

    return _begin(KIND, {**pace, **about}, operator, choose)


def _begin(
    kind: str, fields: dict[str, Any], operator: Operator, choose: Callable[[Campaign], tuple[int, bool]]
) -> Campaign:
    with atomic():
        run("lock_operation", {"operation": operator.operation})
        before: Campaign | None = Campaign.objects.filter(operation=operator.operation).first()
        if before is not None:
            return before
        tenant, task_type = fields["tenant"], fields["task_type"]
        refuse_archived(tenant)
        if kind in RELEASES:
            refuse_many_orders(RELEASES, tenant)
        campaign: Campaign = Campaign.objects.create(
            operation=operator.operation,
            kind=kind,
            actor=operator.name,
            from_tenant=operator.tenant,
            reason=operator.reason,
            **fields | {"selection": fields["selection"][:1000]},
        )
        campaign.total, campaign.more = choose(campaign)
        if not campaign.total:
            raise NothingToDo("No task was found that this could be done to; nothing was changed.")
        campaign.save(update_fields=["total", "more"])
        detail = {"kind": str(kind), "tasks": campaign.total, "selection": campaign.selection}
        detail |= {name: campaign.options[name] for name in _TOLD if name in campaign.options}
        entry = Entry(f"campaign {campaign.id}", "started", None, detail, tenant, task_type)
        audit(operator, "campaign", [entry], checked=True)
        told = {"campaign": campaign.id, "kind": str(kind), "total": campaign.total, "by": operator.name}
        tell("campaign.started", told, tenant=tenant or INTERNAL_TENANT)
        campaign.refresh_from_db()
    return campaign


def _options(kind: Verb, lane: str, move: Move | None) -> dict[str, object]:
    if kind is Verb.MOVE:
        return (move or Move()).options  # without one, that says what is missing
    given = _lane(lane)
    return given if kind in RELEASES else {}


def _lane(lane: str) -> dict[str, object]:
    if lane not in (*LANES, OWN_LANE):
        raise InvalidTask(f"lane={lane!r} is unknown; there are {', '.join(LANES)}, and {OWN_LANE!r} for each its own.")
    return {} if lane == OWN_LANE else {"lane": lane}


def _choose(campaign: Campaign, pages: Iterable[Sequence[int]], deadline: float) -> tuple[int, bool]:
    """How many there are, and whether there were more. However many, a page or two of them are in memory at a time."""
    total, number, more = 0, 0, False
    rest: list[int] = []
    for page in pages:
        room = campaign.cap - total
        more = len(page) > room
        rest += page[:room]
        total += min(len(page), room)
        full = [rest[first : first + CHUNK] for first in range(0, len(rest) - CHUNK + 1, CHUNK)]
        _keep(campaign, number, full)
        number, rest = number + len(full), rest[len(full) * CHUNK :]
        if more or time.monotonic() > deadline:
            more = True
            break
    _keep(campaign, number, [rest] if rest else [])
    return total, more


def _keep(campaign: Campaign, number: int, chunks: Sequence[list[int]]) -> None:
    CampaignChunk.objects.bulk_create(
        [CampaignChunk(campaign=campaign, number=number + place, ids=ids) for place, ids in enumerate(chunks)]
    )


def _keep_slots(campaign: Campaign, slots: Iterable[Slot]) -> int:
    """How many they are; a chunk of them is in memory at a time."""
    total = 0
    for number, part in enumerate(_parts(slots)):
        replayed = [slot.task for slot in part] if part[0].task else []
        made = {} if replayed else {"jobs": [slot.job for slot in part], "fires": [slot.at for slot in part]}
        CampaignChunk.objects.create(campaign=campaign, number=number, ids=replayed, **made)
        total += len(part)
    return total


def _parts(slots: Iterable[Slot]) -> Iterator[list[Slot]]:
    part: list[Slot] = []
    for slot in slots:
        part.append(slot)
        if len(part) == CHUNK:
            yield part
            part = []
    if part:
        yield part
