"""Tokens of the REST API, each of one tenant, and of /metrics: issued once, known by their hash, changed by who may."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from types import EllipsisType
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Func, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from tasks_app.core.errors import InvalidTask, NotAllowed, NothingToDo, NotThere
from tasks_app.core.handlers import REGISTRY, refuse_bad_lane
from tasks_app.core.lanes import LANES
from tasks_app.core.roles import (
    READING,
    USUAL_LANES,
    WRITING,
    Grant,
    Right,
    checked_rights,
    highest,
    refuse_more,
    up_to,
)
from tasks_app.core.tenants import INTERNAL_TENANT, TENANT_LENGTH
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.quotas import refuse_archived
from tasks_app.lifecycle.request import checked_name
from tasks_app.lifecycle.tenants import know
from tasks_app.models import ApiToken, Tenant
from tasks_app.sql import run

from .callers import Caller

PREFIX = "pnc_"
NAME_LENGTH = 100
LONGEST_DAYS = 3_660
MOST_TYPES = 200
METRICS_TENANT = "-"  # of tokens that read /metrics: those figures are of all tenants
# To the minute, so that a busy token is not written at every call; and not on a standby, where nothing can be.
_STANDBY = Func(function="pg_is_in_recovery", output_field=BooleanField())
_UNNOTED = ExpressionWrapper(
    ~Q(_STANDBY) & (Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - timedelta(minutes=1))), BooleanField()
)

# With the token, so that a call asks for nothing more.
_OWNER = QuerySet(Tenant).filter(name=OuterRef("tenant"))
_SUSPENDED = Subquery(_OWNER.filter(state=Tenant.SUSPENDED).values("reason"))
_CALLS = Subquery(_OWNER.values("calls_per_minute"))


def issue(
    name: str,
    tenant: str,
    operator: Operator,
    *,
    can_write: bool = False,
    rights: Sequence[str] | None = None,
    can_decrypt: bool = False,
    days: float | None = None,
    types: Sequence[str] | None = None,
    lanes: Sequence[str] = USUAL_LANES,
    internal: bool = False,
    granter: Caller | None = None,
) -> tuple[ApiToken, str]:
    """A new token of the REST API and its text, which is shown this once and kept nowhere.

    `rights`: each includes those before it; without, it operates if `can_write`, and else reads. `granter` can't hand
    out more than they have; None: somebody at the command line of the server.
    """
    checked_name("name", name, NAME_LENGTH)
    checked_name("tenant", tenant, TENANT_LENGTH)
    _refuse_internal_by_mistake(tenant, internal)
    wanted = (WRITING if can_write else READING) if rights is None else checked_rights(rights)
    _refuse_closed(granter, types)
    given = _as_columns(wanted) | {"tenant": tenant, "can_decrypt": can_decrypt}
    given |= {"types": _checked_types(types), "lanes": _checked_lanes(lanes)}
    _refuse_beyond(granter, tenant, given, _end(days))
    return _issued(name, operator, days, given)


def change(
    token_id: int,
    operator: Operator,
    *,
    rights: Sequence[str] | None = None,
    types: Sequence[str] | EllipsisType | None = ...,
    lanes: Sequence[str] | None = None,
    granter: Caller | None = None,
) -> tuple[ApiToken, bool]:
    """What is given is so from now on, also for calls that are made with it now; and whether that changed anything.

    What it has in the end can't be more than its granter has, whatever it had before.
    """
    if rights is None and types is ... and lanes is None:
        raise NothingToDo("nothing was given to change; a token has rights, types and lanes.")
    with atomic(savepoint=False):
        token = ApiToken.objects.select_for_update().filter(id=token_id, revoked_at__isnull=True, metrics=False).first()
        if token is None or (granter is not None and not granter.everywhere and token.tenant != granter.tenant):
            raise NotThere(f"there is no token {token_id} that could be changed.")
        before = _told(token)
        wanted = token.rights if rights is None else checked_rights(rights)
        given = _as_columns(wanted)
        _refuse_closed(granter, token.types if types is ... else types)
        given["types"] = token.types if types is ... else _checked_types(types)
        given["lanes"] = token.lanes if lanes is None else _checked_lanes(lanes)
        _refuse_beyond(granter, token.tenant, given, token.expires_at)
        for name, value in given.items():
            setattr(token, name, value)
        after = _told(token)
        if after == before:
            return token, False
        token.save(update_fields=list(given))
        entry = Entry(f"token {token.id}", "changed", detail={"before": before, "after": after}, tenant=token.tenant)
        audit(operator, "change", [entry])
    return token, True


def _as_columns(rights: frozenset[Right]) -> dict[str, Any]:
    """To web processes that know no rights, it may write only if it may change everything."""
    return {"can_write": Right.OPERATE in rights, "right": highest(rights)}


def _refuse_closed(granter: Caller | None, types: Sequence[str] | None) -> None:
    """Types that the granter could not use; whether there are such types at all is not told."""
    if granter is not None and not granter.everywhere:
        for one in types or ():
            granter.refuse_closed_type(one)


def _refuse_beyond(granter: Caller | None, tenant: str, given: dict[str, Any], until: datetime | None) -> None:
    """Nobody hands out more than they have, nor anything of a tenant that is not theirs."""
    if granter is None:
        return
    if Right.ADMINISTER not in granter.rights and not granter.everywhere:
        raise NotAllowed("you may not say who may do what here. An administrator of the tenant can.")
    if not granter.everywhere and tenant != granter.tenant:
        raise NotAllowed(f"you may issue tokens of tenant {granter.tenant!r}, and of no other.")
    refuse_more(Grant(up_to(given["right"]), given["types"], given["lanes"], until), granter.grant)


def issue_for_metrics(name: str, operator: Operator, *, days: float | None = None) -> tuple[ApiToken, str]:
    """A new token that reads /metrics, and nothing else; and its text."""
    checked_name("name", name, NAME_LENGTH)
    # No tenant's, type's or lane's: not even a web process of an older version would show it anything.
    return _issued(name, operator, days, {"tenant": METRICS_TENANT, "types": [], "lanes": [], "metrics": True})


def _issued(name: str, operator: Operator, days: float | None, rights: dict[str, Any]) -> tuple[ApiToken, str]:
    text = PREFIX + secrets.token_urlsafe(32)
    expires_at = _end(days)
    with atomic(savepoint=False):
        refuse_archived(rights["tenant"])
        token = ApiToken.objects.create(
            name=name, digest=digest_of(text), hint=text[:8], expires_at=expires_at, **rights
        )
        if not token.metrics:
            know([token.tenant])
        _audit(operator, "issue", token, "issued")
    return token, text


def _end(days: float | None) -> datetime | None:
    if days is not None and not 0 < days <= LONGEST_DAYS:
        raise InvalidTask(f"days={days!r} must be more than 0 and at most {LONGEST_DAYS:,}.")
    return None if days is None else timezone.now() + timedelta(days=days)


def _refuse_internal_by_mistake(tenant: str, internal: bool) -> None:
    """A token of the internal tenant is asked for twice: by its name, and by saying that it is meant."""
    if internal and tenant != INTERNAL_TENANT:
        raise InvalidTask(f"tenant {tenant!r} is not the internal one, {INTERNAL_TENANT!r}. Drop one of the two.")
    if tenant == INTERNAL_TENANT and not internal:
        raise InvalidTask(
            f"tenant {tenant!r} has the scheduler's own tasks and those of its apps, and a token of it reaches all of "
            "them. If you mean that, say so: --internal, or the box of that name."
        )


def _checked_types(types: Sequence[str] | None) -> list[str] | None:
    if types is None:
        return None
    if not 0 < len(types) <= MOST_TYPES:
        raise InvalidTask(f"{len(types)} types are named; name 1 to {MOST_TYPES}, or none for all that are open.")
    return sorted({REGISTRY.require(one).name for one in types})


def _checked_lanes(lanes: Sequence[str]) -> list[str]:
    for lane in lanes:
        refuse_bad_lane(lane, InvalidTask)
    if not lanes:
        raise InvalidTask(f"a token needs at least one lane; lanes are {', '.join(LANES)}.")
    return [lane for lane in LANES if lane in lanes]


def listed(text: str) -> list[str]:
    """The names in a text like "a, b"."""
    return [name.strip() for name in text.split(",") if name.strip()]


def known(text: str) -> Caller | None:
    """Whose token this is; None if it is nobody's, or no longer anybody's."""
    token = _valid(text, metrics=False)
    if token is None:
        return None
    types, lanes = token.types and frozenset(token.types), token.lanes and tuple(token.lanes)
    return Caller(
        f"token {token.name}",
        token.tenant,
        token.rights,
        types,
        lanes,
        suspended=token.suspended,
        calls_per_minute=token.calls_per_minute,
        can_decrypt=token.can_decrypt,
        until=token.expires_at,
    )


def may_read_metrics(text: str) -> bool:
    return _valid(text, metrics=True) is not None


def _valid(text: str, *, metrics: bool) -> ApiToken | None:
    """The token of this text, if it is good and for this; its use is noted."""
    if not text.startswith(PREFIX) or len(text) > 100:
        return None
    # By its hash: nothing of the token is compared character by character.
    token: ApiToken | None = (
        ApiToken.objects.filter(digest=digest_of(text), revoked_at__isnull=True, metrics=metrics)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()))
        .annotate(unnoted=_UNNOTED, suspended=_SUSPENDED, calls_per_minute=_CALLS)
        .first()
    )
    if token is not None and token.unnoted:
        run("note_use", {"token": token.id})
    return token


def revoke(token_id: int, operator: Operator, *, tenant: str | None = None) -> bool:
    """From now on it opens nothing; False if there is no such token (of this tenant), or it was revoked before."""
    whose = {} if tenant is None else {"tenant": tenant, "metrics": False}
    with atomic(savepoint=False):
        if not ApiToken.objects.filter(id=token_id, revoked_at__isnull=True, **whose).update(revoked_at=Now()):
            return False
        _audit(operator, "revoke", ApiToken.objects.get(id=token_id), "revoked")
    return True


def rights_of(token: ApiToken) -> str:
    """In a word: the highest that it has."""
    if token.metrics:
        return "metrics"
    return highest(token.rights).value + (", decrypt" if token.can_decrypt else "")


def _audit(operator: Operator, verb: str, token: ApiToken, outcome: str) -> None:
    about = {"name": token.name, "tenant": token.tenant, "begins": token.hint}
    until = {"until": token.expires_at and token.expires_at.isoformat()}
    whose = None if token.metrics else token.tenant
    audit(operator, verb, [Entry(f"token {token.id}", outcome, None, about | _told(token) | until, tenant=whose)])


def _told(token: ApiToken) -> dict[str, object]:
    """What it may do, as the audit has it."""
    return {"may": rights_of(token), "types": token.types, "lanes": token.lanes}


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
