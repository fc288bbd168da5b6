"""Tokens of the REST API: issued once, known by their hash, of one tenant."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now
from django.utils import timezone

from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.request import checked_text
from tasks_app.models import ApiToken
from tasks_app.models.schedule_task import TENANT_LENGTH
from tasks_app.sql import run

PREFIX = "pnc_"
NAME_LENGTH = 100
LONGEST_DAYS = 3_660
# To the minute, so that a busy token is not written at every call.
_UNNOTED = ExpressionWrapper(
    Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - timedelta(minutes=1)), BooleanField()
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which tenant, and whether it may change anything."""

    name: str
    tenant: str
    can_write: bool


def issue(
    name: str, tenant: str, operator: Operator, *, can_write: bool = False, days: float | None = None
) -> tuple[ApiToken, str]:
    """A new token and its text, which is shown this once and kept nowhere."""
    checked_text("name", name, NAME_LENGTH)
    checked_text("tenant", tenant, TENANT_LENGTH)
    if days is not None and not 0 < days <= LONGEST_DAYS:
        raise InvalidTask(f"days={days!r} must be more than 0 and at most {LONGEST_DAYS:,}.")
    text = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic(savepoint=False):
        token = ApiToken.objects.create(
            name=name,
            tenant=tenant,
            digest=_digest(text),
            hint=text[:8],
            can_write=can_write,
            expires_at=None if days is None else timezone.now() + timedelta(days=days),
        )
        _audit(operator, "issue", token, "issued")
    return token, text


def known(text: str) -> Caller | None:
    """Whose token this is; None if it is nobody's, or any more."""
    if not text.startswith(PREFIX) or len(text) > 100:
        return None
    # By its hash: nothing of the token is compared character by character.
    token = (
        ApiToken.objects.filter(digest=_digest(text), revoked_at__isnull=True)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=Now()))
        .annotate(unnoted=_UNNOTED)
        .first()
    )
    if token is None:
        return None
    if token.unnoted:
        run("note_use", {"token": token.id})
    return Caller(f"token {token.name}", token.tenant, token.can_write)


def revoke(token_id: int, operator: Operator) -> bool:
    """From now on it opens nothing; False if there is no such token, or it was revoked before."""
    with transaction.atomic(savepoint=False):
        if not ApiToken.objects.filter(id=token_id, revoked_at__isnull=True).update(revoked_at=Now()):
            return False
        _audit(operator, "revoke", ApiToken.objects.get(id=token_id), "revoked")
    return True


def _audit(operator: Operator, verb: str, token: ApiToken, outcome: str) -> None:
    detail = {
        "name": token.name,
        "tenant": token.tenant,
        "begins": token.hint,
        "may": "write" if token.can_write else "read",
        "until": token.expires_at and token.expires_at.isoformat(),
    }
    audit(operator, verb, [Entry(f"token {token.id}", outcome, None, detail)])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
