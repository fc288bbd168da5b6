"""Campaigns as people and programs begin them: for tasks by their ids, or for all that match a filter."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from tasks_app.core.campaigns import CAP, UNDO, CampaignState
from tasks_app.core.errors import InvalidTask, NothingToDo
from tasks_app.core.moves import Move
from tasks_app.core.said import Said, said
from tasks_app.engine.watch.browse import Filter, walk
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import LANE, start, start_undo
from tasks_app.lifecycle.operate import Row, Verb, checked_move, expected
from tasks_app.lifecycle.undo import UNDONE, count_undoable, undoable, undone_tasks
from tasks_app.models import Campaign, ScheduleTask
from tasks_app.scope import all_tenants

PAGE = 5_000  # tasks that are looked at at a time


class Pace(NamedTuple):
    """How many tasks, how fast, where those wait that are to run again, and how many of them are under way at once."""

    cap: int = CAP
    rate: float | None = None
    lane: str = LANE
    most_running: int | None = None


def start_matching(
    kind: Verb,
    wanted: Filter,
    operator: Operator,
    pace: Pace = Pace(),  # noqa: B008  (it can't be changed)
    *,
    at: datetime | None = None,
    by: timedelta | None = None,
    over: timedelta | None = None,
    selection: str = "",
) -> Campaign:
    """A campaign for what matches now and is in a state for it, the first `cap` of it.

    A move is to a time, `at`; later or earlier, `by` so much; or spread evenly `over` so long, from `at` or now on.
    """
    pages = _actable(kind, replace(wanted, actable=True, newest=wanted.newest or _newest()))
    return start(
        kind,
        pages,
        operator,
        **pace._asdict(),
        move=_move(kind, at, by, over),
        tenant=wanted.tenant,
        task_type=wanted.task_type,
        selection=selection,
    )


def start_for(
    kind: Verb,
    ids: Iterable[Sequence[int]],
    operator: Operator,
    pace: Pace = Pace(),  # noqa: B008  (it can't be changed)
    *,
    at: datetime | None = None,
    by: timedelta | None = None,
    over: timedelta | None = None,
    tenant: str | None = None,
    task_type: str | None = None,
    selection: str = "",
) -> Campaign:
    """A campaign for these tasks, given page by page: whatever its state, each gets an answer in its turn."""
    return start(
        kind,
        ids,
        operator,
        **pace._asdict(),
        move=_move(kind, at, by, over),
        tenant=tenant,
        task_type=task_type,
        selection=selection,
    )


def undo_operation(
    operation: UUID,
    operator: Operator,
    *,
    tenant: str | None = None,
    types: Collection[str] | None = None,
    lanes: Collection[str] | None = None,
) -> Campaign:
    """A campaign that puts back what an order has moved or cancelled: each task of it that has not begun, and that
    nobody has changed since. `tenant`, `types`, `lanes`: of these only. NothingToDo if there is none."""
    begun: Campaign | None = Campaign.objects.filter(operation=operator.operation).first()
    if begun is not None:
        return begun  # this very order was sent before
    if (why := why_no_undo(operation, tenant)) is not None:
        raise NothingToDo(why)
    undone = Campaign.objects.filter(operation=operation).first()
    words = f"what operation {operation} did" if undone is None else f"what campaign {undone.id} did"
    pages = undone_tasks(operation, tenant)
    return start_undo(
        operation,
        pages if types is None and lanes is None else _within(pages, types, lanes),
        operator,
        tenant=undone.tenant if tenant is None and undone is not None else tenant,
        task_type=None if undone is None else undone.task_type,
        selection=words,
    )


def why_no_undo(operation: UUID, tenant: str | None = None) -> Said | None:
    """Why nothing that an order did can be undone; None if something can."""
    ordered = Campaign.objects.filter(operation=operation).first()
    if ordered is not None and not CampaignState(ordered.state).over:
        return said("Campaign {id} is not over; cancel what is left of it, then undo it.", id=ordered.id)
    found = undoable(operation, tenant)
    if found.known:
        return _undone_by(operation, tenant)
    if found.kept:
        return said(
            "It can't be undone: it is older than undo, and its audit entries don't say when its tasks were to run. "
            "Move them, or schedule them anew, by hand."
        )
    if ordered is not None and any(ordered.counts.get(answer) for answer in UNDONE):
        return said(
            "It can't be undone: its audit entries, which said when its tasks were to run, are no longer kept. "
            "Move them, or schedule them anew, by hand."
        )
    return said("It has moved and cancelled no task, and nothing else can be undone.")


def _undone_by(operation: UUID, tenant: str | None) -> Said | None:
    """Which campaign undoes all of it, or has; None: there is none, or it has left some to others or been cancelled."""
    orders = Campaign.objects.filter(kind=UNDO, options__undoes=str(operation)).exclude(state=CampaignState.CANCELLED)
    last = _of_all(orders, operation, None)
    if last is None and tenant is not None:  # what another tenant had undone is none of this one's tasks
        last = _of_all(orders.filter(tenant=tenant), operation, tenant)
    if last is None:
        return None
    if CampaignState(last.state).over:
        return said("Campaign {id} has undone it.", id=last.id)
    return said("Campaign {id} is undoing it.", id=last.id)


def _of_all(orders: QuerySet[Campaign], operation: UUID, tenant: str | None) -> Campaign | None:
    last = orders.order_by("-total", "-id").first()
    return last if last is not None and last.total >= count_undoable(operation, tenant) else None


def _within(
    pages: Iterable[Sequence[int]], types: Collection[str] | None, lanes: Collection[str] | None
) -> Iterator[list[int]]:
    for page in pages:
        rows = tasks_by_id(page)
        yield [
            id_
            for id_ in page
            if id_ in rows
            and (types is None or rows[id_].task_type in types)
            and (lanes is None or rows[id_].lane in lanes)
        ]


def _move(kind: Verb, at: datetime | None, by: timedelta | None, over: timedelta | None) -> Move | None:
    if kind is Verb.MOVE:
        return checked_move(at, by, over)
    given = {name: value for name, value in (("at", at), ("by", by), ("over", over)) if value is not None}
    if given:
        name, value = next(iter(given.items()))
        raise InvalidTask(f"{name}={value!r}: only a move has a new time.")
    return None


def _actable(kind: Verb, wanted: Filter) -> Iterator[list[int]]:
    for found in walk(wanted, size=PAGE):
        yield [
            task.id
            for task in found.tasks
            if expected(kind, Row(task.id, "", "", "", task.status, task.due, task.current)).acted
        ]


@all_tenants()  # a bound, by whoever's tasks
def _newest() -> int:
    """Tasks that are scheduled from now on are not meant."""
    return ScheduleTask.objects.order_by("-id").values_list("id", flat=True).first() or 0
