"""/limits: how many tasks of a type may start in a second and run at the same time, and what is left of that."""

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.fleet_status import LimitView, limits
from tasks_app.engine.watch.status import COUNT_BOUND
from tasks_app.lifecycle.limited import limited_types

from .auth import caller

router = Router(tags=["limits"])


class LimitLoad(Schema):
    permits: float | None = Field(description="Tasks that could start now")
    claimed: int
    running: int
    due: int
    due_exact: bool = Field(description="False: there are more")
    oldest_due_seconds: float | None


class LimitOut(Schema):
    task_type: str
    declared: bool = Field(description="False: no beat knows the limit, so none of these tasks is started")
    rate: float | None = Field(description="Tasks a second")
    burst: float | None = Field(description="Tasks that may start at once after a pause")
    max_running: int | None
    load: LimitLoad | None = Field(description="Of all tenants together; null for a tenant's token")

    @classmethod
    def of(cls, limit: LimitView, asked: Caller) -> "LimitOut":
        load = LimitLoad(
            permits=limit.permits,
            claimed=limit.claimed,
            running=limit.started,
            due=limit.due,
            due_exact=limit.due_exact,
            oldest_due_seconds=limit.oldest_seconds,
        )
        return cls(
            task_type=limit.task_type,
            declared=limit.declared,
            rate=limit.rate,
            burst=limit.burst,
            max_running=limit.max_running,
            load=load if asked.is_operator else None,
        )


class Limits(Schema):
    items: list[LimitOut]


@router.get("", response=Limits, summary="List the limits in force, by task type")
def read_limits(request: HttpRequest) -> dict[str, object]:
    asked = caller(request)
    seen = limits(limited_types(), COUNT_BOUND)
    if not asked.is_operator:
        usable = asked.usable_types()
        seen = [limit for limit in seen if limit.task_type in usable]
    return {"items": [LimitOut.of(limit, asked) for limit in seen]}
