"""What can be done to a secret that callbacks refer to by name: set, withdraw, delete. It is stored sealed."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import IntegrityError
from django.db.models.functions import Now

from tasks_app.core.callbacks import HEADER_LENGTH, checked_secret_name, is_header_value
from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.hosts import checked_host_name
from tasks_app.core.tenants import TENANT_LENGTH
from tasks_app.database import atomic
from tasks_app.models import Secret

from .audit import Entry, Operator, audit
from .named_secrets import forget, sealed
from .quotas import refuse_archived
from .request import checked_name
from .signing_secrets import MOST_SECRETS, PREFIX, checked_secret, new_secret

MOST_OF_TENANT = 1_000
MOST_HOSTS = 50
LEAST_LENGTH = 8  # of a value: what is shorter can't be told from a word when it is taken out of an answer


class Kept(NamedTuple):
    row: Secret
    made: str | None  # the value, if one was made here: told this once


def set_secret(
    name: str,
    operator: Operator,
    *,
    tenant: str,
    value: str | None = None,
    hosts: Sequence[str] | None = None,
    keep_old: bool = False,
) -> Kept:
    """Make or change one. Without a value, one is made that signs after Standard Webhooks. `keep_old`: the old value
    signs, too, until it is withdrawn. `hosts` left out: as they are, or anywhere."""
    checked_secret_name(name)
    checked_name("tenant", tenant, TENANT_LENGTH)
    text = new_secret() if value is None else _checked_value(value)
    with atomic(savepoint=False):
        row = Secret.objects.select_for_update().filter(tenant=tenant, name=name).first()
        new = row is None
        if row is None:
            refuse_archived(tenant)
            row = _created(tenant, name, operator)
        if hosts is not None:
            row.hosts = _checked_hosts(hosts)
        old, signs = row.values if keep_old else [], text.startswith(PREFIX)
        if old and signs != row.signs:
            raise InvalidTask(f"secret {name!r} can't keep what it was: of the two values only one is for signing.")
        if len(old) >= MOST_SECRETS:
            raise InvalidTask(
                f"secret {name!r} has {len(old)} values, and {MOST_SECRETS} is the most. Withdraw the old ones first."
            )
        row.values = [sealed(row, text), *old]
        row.signs, row.updated_at = signs, Now()
        row.save()
        detail = {"hosts": row.hosts, "values": len(row.values)}
        entry = Entry(f"secret {row}", "made" if new else "changed", tenant=tenant, detail=detail)
        audit(operator, "set", [entry])
    row.refresh_from_db()
    return Kept(row, text if value is None else None)


def withdraw(name: str, operator: Operator, *, tenant: str) -> int:
    """Only its newest value is valid from now on; returns how many are no longer. Raises NotThere."""
    with atomic(savepoint=False):
        row = _locked(name, tenant)
        withdrawn = len(row.values) - 1
        if withdrawn > 0:
            row.values, row.updated_at = row.values[:1], Now()
            row.save()
            audit(operator, "withdraw", [Entry(f"secret {row}", "withdrawn", tenant=tenant)])
    return max(0, withdrawn)


def delete(name: str, operator: Operator, *, tenant: str) -> None:
    """What refers to it fails from now on. Raises NotThere."""
    with atomic(savepoint=False):
        row = _locked(name, tenant)
        Secret.objects.filter(id=row.id).delete()
        forget(tenant, name)
        audit(operator, "delete", [Entry(f"secret {row}", "deleted", tenant=tenant)])


def _created(tenant: str, name: str, operator: Operator) -> Secret:
    if Secret.objects.filter(tenant=tenant).count() >= MOST_OF_TENANT:
        raise InvalidTask(f"tenant {tenant!r} has {MOST_OF_TENANT:,} secrets, the most that there can be.")
    try:
        with atomic():
            made: Secret = Secret.objects.create(tenant=tenant, name=name, created_by=operator.name)
    except IntegrityError:
        return _locked(name, tenant)  # somebody else was faster: theirs is changed
    return made


def _locked(name: str, tenant: str) -> Secret:
    row: Secret | None = Secret.objects.select_for_update().filter(tenant=tenant, name=str(name)[:100]).first()
    if row is None:
        raise NotThere(f"Tenant {tenant!r} has no secret {str(name)[:100]!r}.")
    return row


def _checked_value(value: object) -> str:
    """Never with the value in the error."""
    if isinstance(value, str) and value.startswith(PREFIX):
        return checked_secret(value)
    if not isinstance(value, str) or len(value) < LEAST_LENGTH or not is_header_value(value) or value != value.strip():
        raise InvalidTask(
            f"The value of a secret has {LEAST_LENGTH} to {HEADER_LENGTH:,} printable characters of ASCII, and no "
            "space at its ends. For one that signs, leave it out, and one is made for you."
        )
    return value


def _checked_hosts(hosts: Sequence[str]) -> list[str]:
    if isinstance(hosts, str) or len(hosts) > MOST_HOSTS:
        raise InvalidTask(f"hosts must be a list of at most {MOST_HOSTS} hosts, such as ['api.example.com'].")
    return sorted({checked_host_name(one) for one in hosts})
