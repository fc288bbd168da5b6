"""start: a campaign and the tasks that it is for, chosen once, in one transaction."""

import time
from collections.abc import Iterable, Sequence
from datetime import datetime

from tasks_app.core.campaigns import CAP, CHUNK, checked_cap, checked_rate
from tasks_app.core.errors import InvalidTask, NothingToDo
from tasks_app.core.lanes import LANES
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.outbox import tell
from tasks_app.lifecycle.request import checked_instant
from tasks_app.lifecycle.retry_limit import refuse_many_orders
from tasks_app.models import Campaign, CampaignChunk
from tasks_app.sql import run

LANE = "backfill"  # where released tasks wait, unless they are told otherwise
OWN_LANE = "own"  # each in the lane that it has
SELECT_SECONDS = 20.0  # for choosing the tasks; then it goes with those that were found
RELEASES = (Verb.RETRY, Verb.REPLAY)  # these make tasks run again


def start(
    kind: Verb,
    pages: Iterable[Sequence[int]],
    operator: Operator,
    *,
    cap: int = CAP,
    rate: float | None = None,
    lane: str = LANE,
    at: datetime | None = None,
    tenant: str | None = None,
    task_type: str | None = None,
    selection: str = "",
    seconds: float = SELECT_SECONDS,
) -> Campaign:
    """Begin a campaign for the tasks with these ids, page by page and no more than `cap`; the beats do the rest.

    Called again with the same operation it returns the campaign that there is. `tenant` and `task_type`: what all of
    the tasks have in common; the caller has made sure of it. `selection`: what they are, in words.
    """
    cap, rate = checked_cap(cap), checked_rate(rate)
    options = _options(kind, lane, at)
    with atomic():
        run("lock_operation", {"operation": operator.operation})
        if (before := Campaign.objects.filter(operation=operator.operation).first()) is not None:
            return before
        if kind in RELEASES:
            refuse_many_orders(RELEASES, tenant)
        campaign = Campaign.objects.create(
            operation=operator.operation,
            tenant=tenant,
            task_type=task_type,
            kind=kind,
            actor=operator.name,
            from_tenant=operator.tenant,
            reason=operator.reason,
            selection=selection[:1000],
            options=options,
            cap=cap,
            rate=rate,
        )
        campaign.total, campaign.more = _choose(campaign, pages, time.monotonic() + seconds)
        if not campaign.total:
            raise NothingToDo("No task was found that this could be done to; nothing was changed.")
        campaign.save(update_fields=["total", "more"])
        detail = {"kind": str(kind), "tasks": campaign.total}
        entry = Entry(f"campaign {campaign.id}", "started", None, detail, tenant, task_type)
        audit(operator, "campaign", [entry], checked=True)
        told = {"campaign": campaign.id, "kind": str(kind), "total": campaign.total, "by": operator.name}
        tell("campaign.started", told, tenant=tenant or INTERNAL_TENANT)
        campaign.refresh_from_db()
    return campaign


def _options(kind: Verb, lane: str, at: datetime | None) -> dict[str, str]:
    if kind is Verb.MOVE:
        if at is None:
            raise InvalidTask("a new time is missing; give at=<aware datetime>.")
        return {"at": checked_instant("at", at).isoformat()}
    if at is not None:
        raise InvalidTask(f"at={at!r}: only a move has a new time.")
    if lane not in (*LANES, OWN_LANE):
        raise InvalidTask(f"lane={lane!r} is unknown; there are {', '.join(LANES)}, and {OWN_LANE!r} for each its own.")
    return {"lane": lane} if kind in RELEASES and lane != OWN_LANE else {}


def _choose(campaign: Campaign, pages: Iterable[Sequence[int]], deadline: float) -> tuple[int, bool]:
    """How many there are, and whether there were more. However many, a page or two of them are in memory at a time."""
    total, number, rest, more = 0, 0, [], False
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
