"""/workers: which are alive, with which version and lanes, and what they run; operators drain and resume them."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import Text
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import workers
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.status import NodeView, read_nodes
from tasks_app.engine.watch.workers import busy_slots
from tasks_app.models import Node

from .auth import caller, refuse_without
from .enums import Lane
from .idempotency import mutation
from .schemas import Key, Model

router = Router(tags=["workers"])
Named = Annotated[str, Path(min_length=1, max_length=200)]
VIEW, OPERATE = "punctual.view_scheduletask", "punctual.operate_scheduletask"


class WorkerDrainOut(Schema):
    at: datetime
    by: str
    reason: str


class WorkerOut(Schema):
    name: str
    version: str = Field(description="Punctual's, and the project's `RELEASE` after it; empty: it does not say")
    site: str
    lanes: list[Lane]
    slots: int = Field(description="Batches that it runs at the same time; 0: it takes none")
    busy: int = Field(description="Batches that it runs now; more tasks than that may be in them")
    drain: WorkerDrainOut | None = Field(description="Since when it takes nothing more, and why; null: it does")
    up_seconds: float
    seen_seconds_ago: float
    memory_bytes: float | None = Field(description="Of all its processes; null: it does not say")

    @classmethod
    def of(cls, node: NodeView, busy: int) -> "WorkerOut":
        plain = {name: getattr(node, name) for name in ("name", "version", "site", "lanes", "slots")}
        drain = WorkerDrainOut(**asdict(node.drain)) if node.drained else None
        return cls(
            **plain,
            busy=busy,
            drain=drain,
            up_seconds=node.up_seconds,
            seen_seconds_ago=max(node.seen_seconds_ago, 0.0),
            memory_bytes=(node.figures or {}).get("memory_bytes"),
        )


class Workers(Schema):
    items: list[WorkerOut]


class WorkerReasonIn(Model):
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class WorkerChangedOut(Schema):
    name: str
    drained: bool
    changed: bool = Field(description="False: it already was, and nothing was written")


@router.get("", response=Workers, summary="List the workers that are alive")
def read_workers(request: HttpRequest) -> dict[str, object]:
    """For operators: all tenants share the workers, and others are shown none."""
    asked = caller(request)
    if not asked.is_operator:
        return {"items": []}
    refuse_without(request, asked, VIEW)
    busy = busy_slots()
    live = [node for node in read_nodes() if node.live and node.kind == Node.WORKER]
    return {"items": [WorkerOut.of(node, busy.get(node.name, 0)) for node in live]}


@router.post("/{worker}/drain", response=WorkerChangedOut, summary="Drain a worker: it finishes what it has")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def drain_worker(
    request: HttpRequest, worker: Named, body: WorkerReasonIn, idempotency_key: Key = None
) -> tuple[int, WorkerChangedOut]:
    """It takes no more batches until it is resumed, or restarted. It has finished when its `busy` is 0."""
    asked = _who_may(request)
    changed = workers.drain(worker, reason=body.reason, by=asked.name)
    return 200, WorkerChangedOut(name=worker, drained=True, changed=changed)


@router.post("/{worker}/resume", response=WorkerChangedOut, summary="Let a drained worker take batches again")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def resume_worker(
    request: HttpRequest, worker: Named, body: WorkerReasonIn, idempotency_key: Key = None
) -> tuple[int, WorkerChangedOut]:
    asked = _who_may(request)
    changed = workers.resume(worker, reason=body.reason, by=asked.name)
    return 200, WorkerChangedOut(name=worker, drained=False, changed=changed)


def _who_may(request: HttpRequest) -> Caller:
    asked = caller(request)
    asked.refuse_outsider("the workers")
    refuse_without(request, asked, OPERATE)
    return asked
