"""/tasks/{task_id}/logs: what the tries of a task have logged."""

from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next
from tasks_app.core.phrases import for_outsiders
from tasks_app.engine.watch.replays import Replay, before, replays_of
from tasks_app.lifecycle.logs import lines_of
from tasks_app.models import TaskLog

from .schemas import Id, id_of
from .tasks import task_of

router = Router(tags=["tasks"])


class LogLineOut(Schema):
    at: datetime
    level: str = Field(description="Of a record of Python's logging; empty: the handler's own line")
    text: str


class LogOut(Schema):
    """What one try has logged: the one under way, or any before it, whatever became of it."""

    id: int
    attempt: int = Field(description="1 for the first try since the last success, roll or replay")
    replayed_at: datetime | None = Field(
        description="The replay that it came after; null: none, or one that is no longer kept"
    )
    worker: str
    started_at: datetime = Field(description="When its batch began")
    dropped: int = Field(description="Lines before these, which are not kept")
    lines: list[LogLineOut]

    @classmethod
    def of(cls, row: TaskLog, replays: Sequence[Replay]) -> "LogOut":
        plain = {name: getattr(row, name) for name in ("id", "attempt", "worker", "started_at", "dropped")}
        lines = [LogLineOut(at=one.at, level=one.level, text=for_outsiders(one.text)) for one in lines_of(row)]
        replay = before(replays, row.started_at)
        return cls(**plain, lines=lines, replayed_at=replay.at if replay else None)


class LogPage(Schema):
    items: list[LogOut]
    next: Next


@router.get("/{task_id}/logs", response=LogPage, summary="List what the tries of a task have logged, latest try first")
def list_logs(
    request: HttpRequest,
    task_id: Id,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    """Tries that logged nothing are left out. Lines of a run under way come with its heartbeats."""
    task = task_of(request, task_id)
    rows, replays = TaskLog.objects.filter(task_id=task.id), replays_of(task.id)
    found = list((rows if after is None else rows.filter(id__lt=id_of(after))).order_by("-id")[: limit + 1])
    more = found[limit - 1].id if len(found) > limit else None
    return {"items": [LogOut.of(row, replays) for row in found[:limit]], "next": None if more is None else str(more)}
