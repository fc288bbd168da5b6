"""/tasks/{task_id}/attempts: the tries of a task that failed."""

from collections.abc import Sequence
from datetime import datetime

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next
from tasks_app.core.phrases import for_outsiders
from tasks_app.engine.watch.replays import Replay, before, replays_of
from tasks_app.models import TaskAttempt

from .schemas import Id, id_of
from .tasks import task_of

router = Router(tags=["tasks"])


class AttemptOut(Schema):
    id: int
    attempt: int = Field(description="1 for the first try since the last success, roll or replay")
    replayed_at: datetime | None = Field(
        description="The replay that it came after; null: none, or one that is no longer kept"
    )
    worker: str
    started_at: datetime | None = Field(description="Null: it was lost before a worker had started it")
    finished_at: datetime
    error_code: str
    error_msg: str

    @classmethod
    def of(cls, row: TaskAttempt, replays: Sequence[Replay]) -> "AttemptOut":
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        replay = before(replays, row.finished_at)
        told = {"error_msg": for_outsiders(row.error_msg), "replayed_at": replay and replay.at}
        return cls(**plain | told)


class AttemptPage(Schema):
    items: list[AttemptOut]
    next: Next


@router.get("/{task_id}/attempts", response=AttemptPage, summary="List the failed tries of a task, latest first")
def list_attempts(
    request: HttpRequest,
    task_id: Id,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    task = task_of(request, task_id)
    rows, replays = TaskAttempt.objects.filter(task_id=task.id), replays_of(task.id)
    found = list((rows if after is None else rows.filter(id__lt=id_of(after))).order_by("-id")[: limit + 1])
    more = found[limit - 1].id if len(found) > limit else None
    items = [AttemptOut.of(row, replays) for row in found[:limit]]
    return {"items": items, "next": None if more is None else str(more)}
