"""Members: people get a role in a tenant, another one, or none, each with an audit entry and an event."""

from typing import Any, NamedTuple

from tasks_app.core.errors import InvalidTask, NotThere, ScheduleConflict
from tasks_app.core.roles import Role, checked_role
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.models import Membership
from tasks_app.sql import run

from .audit import ACTOR_LENGTH, Entry, Operator, audit
from .outbox import tell
from .request import checked_name
from .tenants import checked_tenant, know

ROUNDS = 10
TOKENS = "token "  # how the names of tokens begin where they act


class Granted(NamedTuple):
    """A membership after a grant, and what the person was before; None: nothing."""

    row: Membership
    before: Role | None

    @property
    def changed(self) -> bool:
        return bool(self.before != self.row.role)


def grant(tenant: str, user_key: str, username: str, role: object, operator: Operator, *, source: str = "") -> Granted:
    """From now on the person is this there, and nothing else. `source`: what keeps it, such as a single sign-on."""
    tenant, role = checked_tenant(tenant), checked_role(role)
    if tenant == INTERNAL_TENANT:
        raise InvalidTask(
            f"tenant {tenant!r} has the scheduler's own tasks and those of its apps, and no members. Whoever looks "
            "after them has Django's permissions."
        )
    checked_name("user", username, ACTOR_LENGTH)
    if username.startswith(TOKENS):
        raise InvalidTask(f"user {username!r} is called like a token, and what it owns could not be told from that's.")
    with atomic():
        know([tenant])
        row, new = _locked(tenant, user_key, username, role)
        before = None if new else Role(row.role)
        if before == role and row.source == source:
            return Granted(row, before)
        row.username, row.role, row.source, row.granted_by = username, role, source, operator.name
        row.updated_at = run("clock", {})[0][0]
        row.save()
        detail = {"before": before, "after": role} | ({"source": source} if source else {})
        _audit(operator, "grant", "granted" if new else "changed", row, detail)
        if before != role:
            tell("member.granted", _told(row, operator, role=role, before=before), tenant=tenant)
    return Granted(row, before)


def revoke(tenant: str, username: str, operator: Operator) -> Role:
    """From now on the person has no role there. Returns what they were; NotThere if nothing."""
    with atomic():
        row = found(tenant, username)
        Membership.objects.filter(id=row.id).delete()
        _audit(operator, "revoke", "revoked", row, {"before": row.role, "after": None})
        tell("member.revoked", _told(row, operator, before=row.role), tenant=row.tenant)
    return Role(row.role)


def found(tenant: str, username: str) -> Membership:
    """Locked until the end of the transaction. NotThere if there is none."""
    rows = Membership.objects.select_for_update().filter(tenant=tenant, username=username)
    row: Membership | None = rows.order_by("id").first()
    if row is None:
        raise NotThere(f"there is no member {username[:ACTOR_LENGTH]!r} in tenant {tenant!r}.")
    return row


def _locked(tenant: str, user_key: str, username: str, role: Role) -> tuple[Membership, bool]:
    """The person's membership until the end of the transaction, and whether it is new. Others may make it, or take it
    away, while we look."""
    whose = {"tenant": tenant, "user_key": user_key}
    for _ in range(ROUNDS):
        row = Membership.objects.select_for_update().filter(**whose).first()
        if row is not None:
            return row, False
        row, new = Membership.objects.get_or_create(**whose, defaults={"username": username, "role": role})
        if new:
            return row, True
    raise ScheduleConflict(f"the membership of {username!r} was made and revoked again and again. Try again.")


def _audit(operator: Operator, verb: str, outcome: str, row: Membership, detail: dict[str, Any]) -> None:
    audit(operator, verb, [Entry(f"member {row.username}", outcome, detail=detail, tenant=row.tenant)])


def _told(row: Membership, operator: Operator, **more: object) -> dict[str, object]:
    return {"tenant": row.tenant, "user": row.username, "by": operator.name} | more
