"""Tokens of the REST API, each of one tenant, and of /metrics: issued once, known by their hash."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import BooleanField, ExpressionWrapper, OuterRef, Q, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from tasks_app.core.errors import InvalidTask, LaneClosed, NotForTenants, TypeClosed
from tasks_app.core.handlers import REGISTRY, Handler, refuse_bad_lane
from tasks_app.core.lanes import LANES, URGENT_LANE
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic, in_recovery
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.quotas import refuse_archived
from tasks_app.lifecycle.request import checked_name
from tasks_app.lifecycle.tenants import know
from tasks_app.models import ApiToken, Tenant
from tasks_app.models.schedule_task import TENANT_LENGTH
from tasks_app.sql import run

PREFIX = "pnc_"
NAME_LENGTH = 100
LONGEST_DAYS = 3_660
MOST_TYPES = 200
METRICS_TENANT = "-"  # of tokens that read /metrics: those figures are of all tenants
MOST_NAMED = 20  # types in an answer
USUAL_LANES = tuple(lane for lane in LANES if lane != URGENT_LANE)
# To the minute, so that a busy token is not written at every call.
_UNNOTED = ExpressionWrapper(
    Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - timedelta(minutes=1)), BooleanField()
)

# With the token, so that a call asks for nothing more.
_OWNER = Tenant.objects.filter(name=OuterRef("tenant"))
_SUSPENDED = Subquery(_OWNER.filter(state=Tenant.SUSPENDED).values("reason"))
_CALLS = Subquery(_OWNER.values("calls_per_minute"))


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which tenant, and what it may see and change."""

    name: str
    tenant: str
    can_write: bool
    types: frozenset[str] | None = None  # all it may see and use; None: all that are open to its tenant
    lanes: tuple[str, ...] | None = None  # that it may use; None: all
    is_person: bool = False  # an operator, who could do in the admin what is closed to tokens
    suspended: str | None = None  # why its tenant is, if it is
    calls_per_minute: int | None = None  # of its tenant, by all its tokens
    can_decrypt: bool = False  # a token; of people, Django's permission is asked

    def may_see(self, task_type: str) -> bool:
        return self.types is None or task_type in self.types

    def refuse_closed_type(self, task_type: str) -> None:
        """The same answer for a type that is closed, another's or not there at all: it tells nothing of the others."""
        if self.is_person or task_type in (usable := self.usable_types()):
            return
        raise TypeClosed(
            f"task type {task_type[:NAME_LENGTH]!r} is not open to this token. It may use {_named(usable)}."
        )

    def refuse_closed_lane(self, lane: str) -> None:
        if self.is_person or self.lanes is None or lane in self.lanes:
            return
        raise LaneClosed(
            f"lane {lane!r} is not open to this token. It may use {', '.join(self.lanes)}: name one of them."
        )

    def usable_types(self) -> list[str]:
        if self.is_person:
            return sorted(one.name for one in REGISTRY)
        return sorted(one.name for one in REGISTRY if one.is_open_to(self.tenant) and self._may_use(one))

    @property
    def types_to_choose(self) -> str:
        """For somebody who has named none."""
        return f"task_type is missing; it says what runs. You may use {_named(self.usable_types())}."

    def _may_use(self, handler: Handler) -> bool:
        named = self.types is not None and handler.name in self.types
        return named or (self.types is None and not handler.named_only)

    @property
    def is_operator(self) -> bool:
        """Whether it may see and change what all tenants share: a person, or a token of all that is internal."""
        return self.is_person or (self.tenant == INTERNAL_TENANT and self.types is None)

    def refuse_outsider(self, what: str) -> None:
        if not self.is_operator:
            raise NotForTenants(
                f"All tenants share {what}, so this is for operators, and for tokens of tenant {INTERNAL_TENANT!r} "
                "that have all types."
            )


def issue(
    name: str,
    tenant: str,
    operator: Operator,
    *,
    can_write: bool = False,
    can_decrypt: bool = False,
    days: float | None = None,
    types: Sequence[str] | None = None,
    lanes: Sequence[str] = USUAL_LANES,
    internal: bool = False,
) -> tuple[ApiToken, str]:
    """A new token of the REST API and its text, which is shown this once and kept nowhere."""
    checked_name("name", name, NAME_LENGTH)
    checked_name("tenant", tenant, TENANT_LENGTH)
    _refuse_internal_by_mistake(tenant, internal)
    rights = {
        "tenant": tenant,
        "can_write": can_write,
        "can_decrypt": can_decrypt,
        "types": None if types is None else _checked_types(types),
        "lanes": _checked_lanes(lanes),
    }
    return _issued(name, operator, days, rights)


def issue_for_metrics(name: str, operator: Operator, *, days: float | None = None) -> tuple[ApiToken, str]:
    """A new token that reads /metrics, and nothing else; and its text."""
    checked_name("name", name, NAME_LENGTH)
    # No tenant's, type's or lane's: not even a web process of an older version would show it anything.
    return _issued(name, operator, days, {"tenant": METRICS_TENANT, "types": [], "lanes": [], "metrics": True})


def _issued(name: str, operator: Operator, days: float | None, rights: dict) -> tuple[ApiToken, str]:
    if days is not None and not 0 < days <= LONGEST_DAYS:
        raise InvalidTask(f"days={days!r} must be more than 0 and at most {LONGEST_DAYS:,}.")
    text = PREFIX + secrets.token_urlsafe(32)
    expires_at = None if days is None else timezone.now() + timedelta(days=days)
    with atomic(savepoint=False):
        refuse_archived(rights["tenant"])
        token = ApiToken.objects.create(
            name=name, digest=digest_of(text), hint=text[:8], expires_at=expires_at, **rights
        )
        if not token.metrics:
            know([token.tenant])
        _audit(operator, "issue", token, "issued")
    return token, text


def _refuse_internal_by_mistake(tenant: str, internal: bool) -> None:
    """A token of the internal tenant is asked for twice: by its name, and by saying that it is meant."""
    if internal and tenant != INTERNAL_TENANT:
        raise InvalidTask(f"tenant {tenant!r} is not the internal one, {INTERNAL_TENANT!r}. Drop one of the two.")
    if tenant == INTERNAL_TENANT and not internal:
        raise InvalidTask(
            f"tenant {tenant!r} has the scheduler's own tasks and those of its apps, and a token of it reaches all of "
            "them. If you mean that, say so: --internal, or the box of that name."
        )


def _checked_types(types: Sequence[str]) -> list[str]:
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
        token.can_write,
        types,
        lanes,
        suspended=token.suspended,
        calls_per_minute=token.calls_per_minute,
        can_decrypt=token.can_decrypt,
    )


def may_read_metrics(text: str) -> bool:
    return _valid(text, metrics=True) is not None


def _valid(text: str, *, metrics: bool) -> ApiToken | None:
    """The token of this text, if it is good and for this; its use is noted."""
    if not text.startswith(PREFIX) or len(text) > 100:
        return None
    # By its hash: nothing of the token is compared character by character.
    token = (
        ApiToken.objects.filter(digest=digest_of(text), revoked_at__isnull=True, metrics=metrics)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()))
        .annotate(unnoted=_UNNOTED, suspended=_SUSPENDED, calls_per_minute=_CALLS)
        .first()
    )
    if token is not None and token.unnoted and not in_recovery():
        run("note_use", {"token": token.id})
    return token


def revoke(token_id: int, operator: Operator) -> bool:
    """From now on it opens nothing; False if there is no such token, or it was revoked before."""
    with atomic(savepoint=False):
        if not ApiToken.objects.filter(id=token_id, revoked_at__isnull=True).update(revoked_at=Now()):
            return False
        _audit(operator, "revoke", ApiToken.objects.get(id=token_id), "revoked")
    return True


def rights_of(token: ApiToken) -> str:
    if token.metrics:
        return "metrics"
    return ("write" if token.can_write else "read") + (", decrypt" if token.can_decrypt else "")


def _audit(operator: Operator, verb: str, token: ApiToken, outcome: str) -> None:
    detail = {
        "name": token.name,
        "tenant": token.tenant,
        "begins": token.hint,
        "may": rights_of(token),
        "types": token.types,
        "lanes": token.lanes,
        "until": token.expires_at and token.expires_at.isoformat(),
    }
    audit(operator, verb, [Entry(f"token {token.id}", outcome, None, detail)])


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _named(types: list[str]) -> str:
    """The first of them, for a sentence."""
    return f"{', '.join(types[:MOST_NAMED])}{' …' if types[MOST_NAMED:] else ''}" if types else "none so far"
