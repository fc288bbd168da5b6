"""/tasks/{task_id}/decrypt: what is encrypted of a task, for whoever has the right to see it; each look is audited."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Field, Router, Schema

from tasks_app.client.endpoints import Text
from tasks_app.core.errors import NothingToDo
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.reveal import Part, reveal
from tasks_app.lifecycle.audit import Operator

from .auth import caller, refuse_without
from .enums import HiddenPart
from .jobs import operator, usable
from .problems import SCOPE, Problem
from .schemas import Id, Model
from .tasks import task_of

RIGHT = "punctual.decrypt_scheduletask"
# It changes nothing, so a token needs no right to write; and no answer of it is stored, so it takes no Idempotency-Key.
router = Router(tags=["tasks"])


class DecryptIn(Model):
    reason: Annotated[Text, Field(min_length=1, description="Why you need to see it; the audit keeps it")]


class PartOut(Schema):
    what: HiddenPart
    attempt: int | None = Field(description="The try that the message or the log is of; null: it is of the task")
    value: Any = Field(description="A payload or result as JSON; else text")

    @classmethod
    def of(cls, part: Part) -> "PartOut":
        return cls(what=part.what, attempt=part.attempt, value=part.value)


class DecryptedOut(Schema):
    """What was encrypted of the task. That you have seen it is in the audit."""

    task: int
    parts: list[PartOut]


@router.post("/{task_id}/decrypt", response=DecryptedOut, summary="Read what is encrypted of a task")
@may_answer(*SCOPE, "SCH_403_FORBIDDEN", "SCH_503_DEGRADED")
def decrypt_task(request: HttpRequest, task_id: Id, body: DecryptIn) -> DecryptedOut:
    """For tokens that were issued for it, and people with the permission. Each call is audited, with its reason."""
    row = usable(request, task_of(request, task_id))
    asked = caller(request)
    refuse_without(request, asked, RIGHT)
    if not asked.is_person and not asked.can_decrypt:
        raise Problem(
            "SCH_403_FORBIDDEN",
            "This token may not decrypt. Ask for one that may: `manage.py api_token issue --decrypt`.",
        )
    try:
        shown = reveal(row, _operator(request, body))
    except NothingToDo as error:
        raise Problem("SCH_422_INVALID", str(error)) from None
    return DecryptedOut(task=row.id, parts=[PartOut.of(part) for part in shown])


def _operator(request: HttpRequest, body: DecryptIn) -> Operator:
    if not body.reason.strip():
        raise Problem("SCH_422_INVALID", "reason: say why you need to see it; the audit keeps it.")
    return operator(request, body.reason)
