"""What an operator may do about a safeguard: force it, forbid it, end what it does; with a reason, and for a time."""

from datetime import UTC, datetime, timedelta

from django.db.models.functions import Now

from tasks_app.core.errors import InvalidTask, NothingToDo, nearest, shown
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.hosts import checked_host_name
from tasks_app.core.safeguards import FIRST_STAGE, HOST, NEEDS_SUBJECT, Name, Order, stages_of
from tasks_app.core.scopes import EVERYTHING, TENANT, Scope, scope_of, target_of
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.safeguards.applying import new_row
from tasks_app.models import JobDefinition, MaintenanceEntry, Pulse, Safeguard
from tasks_app.models.safeguard import SUBJECT_LENGTH
from tasks_app.sql import run

USUAL_SECONDS = 3_600.0
MOST_SECONDS = 30 * 86_400.0
WHOLE = (Name.DELAY, Name.RETRIES, Name.PROFILE)  # they are about all there is


def force(
    name: str, operator: Operator, *, subject: str = "", seconds: float = USUAL_SECONDS, stage: int | None = None
) -> Safeguard:
    """On from now, whatever is found, and for so long."""
    name, subject = _checked(name, subject)
    subject = _known(subject)
    wanted = FIRST_STAGE.get(name, 1) if stage is None else stage
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= stages_of(name):
        raise InvalidTask(f"stage={shown(stage)}: safeguard {name} has stages 1 to {stages_of(name)}.")
    if name is Name.PROFILE:
        raise InvalidTask('the daily profile can\'t be forced; PUNCTUAL["DAILY_PROFILE"] says when it is on.')
    return _order(name, subject, Order.FORCE, operator, _seconds(seconds), wanted)


def forbid(name: str, operator: Operator, *, subject: str = "", seconds: float = USUAL_SECONDS) -> Safeguard:
    """Off from now, whatever is found, and for so long."""
    name, subject = _checked(name, subject)
    return _order(name, _known(subject), Order.FORBID, operator, _seconds(seconds))


def end(name: str, operator: Operator, *, subject: str = "") -> Safeguard:
    """What it does, and what an operator wanted of it, ends now; of a type, for each tenant. It may begin again as if
    it had never been on."""
    name, subject = _checked(name, subject)
    with atomic(savepoint=False):
        rows = Safeguard.objects.select_for_update().filter(name=name).order_by("name", "subject")
        on = {row.subject for row in rows if row.stage or row.order}
        mine = [one for one in on if subject in (one, target_of(one))]
        if not mine:
            of = f" of {subject}" if subject else ""
            raise NothingToDo(f"safeguard {name}{of} is neither on, nor forced, nor forbidden; nothing was changed.")
    ordered = [_order(name, one, Order.END, operator, None) for one in sorted(mine, key=len)]
    return ordered[0]


def _order(
    name: Name, subject: str, order: Order, operator: Operator, seconds: float | None, stage: int = 0
) -> Safeguard:
    with atomic(savepoint=False):
        fresh = new_row(name, subject)
        given = {one: getattr(fresh, one) for one in ("stage", "relapses", "figures", "order", "order_stage")}
        Safeguard.objects.get_or_create(name=name, subject=subject, defaults=given)
        row: Safeguard = Safeguard.objects.select_for_update().get(name=name, subject=subject)
        ((now,),) = run("clock", {})
        row.order, row.order_stage = order, stage
        row.order_until = None if seconds is None else now + timedelta(seconds=seconds)
        row.order_by, row.order_reason = operator.name, operator.reason
        row.save(update_fields=["order", "order_stage", "order_until", "order_by", "order_reason"])
        detail = {"until": _instant(row.order_until), "stage": stage} if seconds is not None else None
        audit(operator, order, [Entry(f"safeguard {row}", _DONE[order], None, detail)])
        # The next beat that looks does it: within seconds.
        MaintenanceEntry.objects.filter(name="safeguard").update(next_at=Now())
    return row


_DONE = {Order.FORCE: "forced", Order.FORBID: "forbidden", Order.END: "to be ended"}


def _checked(name: str, subject: str) -> tuple[Name, str]:
    known = [str(one) for one in Name]
    if name not in known:
        raise InvalidTask(
            f"there is no safeguard {shown(name)}; there are {', '.join(known)}.{nearest(str(name), known)}"
        )
    name = Name(name)
    scope = scope_of(subject) if isinstance(subject, str) else None
    unreadable = not isinstance(subject, str) or len(subject) > SUBJECT_LENGTH or not subject.isprintable()
    if unreadable or (subject.startswith(TENANT) and scope is None):
        raise InvalidTask(
            f"subject={shown(subject)} must be a task type, {HOST} and a host, or {TENANT} with a tenant and one of "
            f"these, such as {TENANT}acme/SEND_MAIL. {EVERYTHING} in place of the type means all of them."
        )
    target = scope.target if scope else subject
    if subject and name in WHOLE and not (scope and name is Name.RETRIES):
        raise InvalidTask(f"safeguard {name} is about everything; leave the subject {shown(subject)} out.")
    if target in ("", EVERYTHING) and name in NEEDS_SUBJECT:
        raise InvalidTask(f"safeguard {name} is about one task type; name it as the subject.")
    if target.startswith(HOST) and name is not Name.DEAD_LETTERS and not (scope and name is Name.FAILURES):
        raise InvalidTask(f"safeguard {name} is about task types, not about hosts such as {shown(subject)}.")
    return name, subject


def _known(subject: str) -> str:
    """A host as callbacks write it, and a type that there is: of others, nothing could be held back."""
    if (scope := scope_of(subject)) is not None:
        known = scope.target if scope.target == EVERYTHING else _known(scope.target)
        return Scope(scope.tenant, known).subject
    if subject.startswith(HOST):
        return HOST + checked_host_name(subject.removeprefix(HOST))
    if subject and REGISTRY.get(subject) is None:
        types = set(Pulse.objects.values_list("task_type", flat=True).distinct())
        if subject not in types and not JobDefinition.objects.filter(task_type=subject).exists():
            types |= {handler.name for handler in REGISTRY}
            raise InvalidTask(
                f"task type {shown(subject)} is not known: it has no handler here and no job, and none of its tasks "
                f"ran within the last hour.{nearest(subject, types)} Give a type that there is."
            )
    return subject


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= MOST_SECONDS:
        raise InvalidTask(f"{shown(value)} is no time for this; give 1 second to 30 days.")
    return float(value)


def _instant(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()
