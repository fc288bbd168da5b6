"""Campaigns as people and programs begin them: for tasks by their ids, or for all that match a filter."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from tasks_app.core.campaigns import CAP
from tasks_app.engine.watch.browse import Filter, walk
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import LANE, start
from tasks_app.lifecycle.operate import Row, Verb, expected
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
    selection: str = "",
) -> Campaign:
    """A campaign for what matches now and is in a state for it, the first `cap` of it."""
    pages = _actable(kind, replace(wanted, actable=True, newest=wanted.newest or _newest()))
    return start(
        kind,
        pages,
        operator,
        **pace._asdict(),
        at=at,
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
        at=at,
        tenant=tenant,
        task_type=task_type,
        selection=selection,
    )


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
