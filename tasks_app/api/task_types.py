"""/task-types: what can be scheduled here, and with which options it runs."""

from enum import StrEnum
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field, RootModel

from tasks_app.client.endpoints import Text
from tasks_app.core.handlers import REGISTRY, Handler

from .auth import caller
from .enums import Lane
from .problems import Problem

router = Router(tags=["task types"])


class Mode(StrEnum):
    """How the handler is called."""

    PLAIN = "plain"  # for one task after another, or for some of a batch side by side
    ASYNC = "async"
    BATCH = "batch"  # once for a whole batch
    TRANSACTIONAL = "transactional"  # in the transaction that settles the task


class PayloadSchema(RootModel[dict[str, Any]]):
    """A JSON schema, draft 2020-12."""


class TaskTypeOut(Schema):
    name: str
    lane: Lane
    max_retry: int
    backoff: list[float] = Field(description="Seconds before each retry, without their jitter; the last repeats")
    timeout: float = Field(description="Seconds")
    mode: Mode
    concurrency: int = Field(description="Tasks of one batch that run at the same time")
    rate: float | None = Field(description="Tasks a second across all workers")
    burst: float | None
    max_running: int | None
    payload_schema: PayloadSchema | None = Field(
        description="What its payload has: names, types, defaults, and what is required. Null: the handler declares no "
        "parameters, and takes any payload"
    )

    @classmethod
    def of(cls, handler: Handler) -> "TaskTypeOut":
        limit = handler.limit
        return cls(
            name=handler.name,
            lane=handler.lane,
            max_retry=handler.max_retry,
            backoff=handler.policy.steps(),
            timeout=handler.timeout,
            mode=_mode(handler),
            concurrency=handler.concurrency,
            rate=limit.rate if limit else None,
            burst=limit.burst if limit else None,
            max_running=limit.max_running if limit else None,
            payload_schema=PayloadSchema(handler.parameters.schema()) if handler.parameters else None,
        )


class TaskTypes(Schema):
    items: list[TaskTypeOut]


@router.get("", response=TaskTypes, summary="List the task types that the caller may use, by name")
def read_task_types(request: HttpRequest) -> dict[str, object]:
    return {"items": [TaskTypeOut.of(REGISTRY.require(name)) for name in caller(request).usable_types()]}


@router.get("/{path:name}", response=TaskTypeOut, summary="Read a task type")
def read_task_type(request: HttpRequest, name: Annotated[Text, Path()]) -> TaskTypeOut:
    if name not in caller(request).usable_types():
        raise Problem("SCH_404_NOT_FOUND", f"There is no task type {name[:100]!r} that you may use.")
    return TaskTypeOut.of(REGISTRY.require(name))


def _mode(handler: Handler) -> Mode:
    if handler.transactional:
        return Mode.TRANSACTIONAL
    if handler.batch:
        return Mode.BATCH
    return Mode.ASYNC if handler.is_async else Mode.PLAIN
