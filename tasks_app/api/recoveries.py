"""/recoveries: what was done after incidents; `manage.py recover` does it."""

from datetime import datetime

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next
from tasks_app.engine.operations.recovery.report import as_result, goals_of, seconds_of, step_rows
from tasks_app.models import Recovery

from .auth import caller
from .enums import Lane, RecoveryGrade, RecoveryStatus, TroubleSign
from .schemas import id_of

router = Router(tags=["recoveries"])


class RecoveryStepOut(Schema):
    name: str
    done: bool
    after_seconds: float | None = Field(description="Since the incident began, when it was done")
    limit_minutes: int = Field(description="By when it should have been")
    met: bool | None
    seconds: float | None = Field(description="How long it took")
    words: str = Field(description="What it did")


class RecoveryOut(Schema):
    id: int
    incident: str
    status: RecoveryStatus
    resumed: int = Field(description="Shards that no live beat dispatched, and that are dispatched again")
    lanes_resumed: list[Lane] = Field(description="Lanes that it held, and that go on")
    replayed: int = Field(description="Events that subscribers get again")
    dlqMoved: int = Field(description="Dead letters whose tasks run again")  # as the standard has it
    grade: RecoveryGrade
    runs: int = Field(description="How often it was begun or went on")
    by: str
    reason: str
    began_at: datetime = Field(description="When the incident began")
    started_at: datetime
    finished_at: datetime | None
    seconds: float | None = Field(description="From the beginning of the incident to the last step")
    trouble_since: datetime = Field(description="The first sign of trouble that the database knew")
    trouble_sign: TroubleSign
    rto_seconds: float | None = Field(description="From that sign to the last step")
    rpo_seconds: float | None = Field(
        description="At most so much of what was committed before may be lost; null: not measured"
    )
    steps: list[RecoveryStepOut]

    @classmethod
    def of(cls, row: Recovery) -> "RecoveryOut":
        about = {name: getattr(row, name) for name in ("id", "grade", "runs", "reason", "began_at", "started_at")}
        about |= {"by": row.actor, "finished_at": row.finished_at, "seconds": seconds_of(row)}
        return cls(
            **as_result(row),
            **about,
            **goals_of(row),
            steps=[RecoveryStepOut(**one._asdict()) for one in step_rows(row)],
        )


class Recoveries(Schema):
    items: list[RecoveryOut]
    next: Next


@router.get("", response=Recoveries, summary="List what was done after incidents; for operators")
def list_recoveries(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE) -> dict[str, object]:
    rows = Recovery.objects.order_by("-id")
    if after is not None:
        rows = rows.filter(id__lt=id_of(after))
    found = list(rows[:limit]) if caller(request).is_operator else []
    return {
        "items": [RecoveryOut.of(row) for row in found],
        "next": str(found[-1].id) if len(found) == limit else None,
    }
