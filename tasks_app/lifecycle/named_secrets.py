"""Secrets of a tenant that callbacks refer to by name: looked for, and opened where they are used. Shown to nobody."""

import time
from collections.abc import Iterable
from typing import NamedTuple

from tasks_app.core.confidential import Encrypted, KeyOutOfReach, Unreadable, as_text, of_secret
from tasks_app.core.errors import InvalidTask
from tasks_app.core.keyring import CannotUnseal
from tasks_app.models import Secret, Tenant
from tasks_app.sealing import seal, unseal

from .data_keys import newest_keys, opened_keys

KNOWN_SECONDS = 5.0  # for so long it is not asked again whether a secret that signs is there

_known_at: dict[tuple[str, str], float] = {}


class Opened(NamedTuple):
    """A secret that is in use: never logged, never in an error."""

    values: tuple[str, ...]  # the newest first
    hosts: frozenset[str] = frozenset()  # where it may be sent to; empty: anywhere
    signs: bool = False
    problem: str = ""  # why it can't be opened

    def __repr__(self) -> str:
        return f"<Opened of {len(self.values)}>"


def refuse_unknown(tenant: str, names: Iterable[str], host: str) -> None:
    """Raises InvalidTask if the tenant has no secret of one of these names, or if it may not be sent to this host."""
    for name in names:
        hosts = Secret.objects.filter(tenant=tenant, name=name).values_list("hosts", flat=True).first()
        if hosts is None:
            raise InvalidTask(f"tenant {tenant!r} has no secret {name!r}. {_way_out(tenant, name)}")
        if hosts and host not in hosts:
            raise InvalidTask(
                f"secret {name!r} may not be sent to {host}; it is for {', '.join(hosts)}. Add the host to it, or use "
                "another secret."
            )


def refuse_unsigned(tenant: str, name: str) -> None:
    """Raises InvalidTask if the tenant has no secret of this name that signs."""
    if time.monotonic() - _known_at.get((tenant, name), float("-inf")) < KNOWN_SECONDS:
        return
    signs = Secret.objects.filter(tenant=tenant, name=name).values_list("signs", flat=True).first()
    if signs is None:
        raise InvalidTask(
            f"tenant {tenant!r} has no secret {name!r} that could sign the call. {_way_out(tenant, name)} With "
            '"sign": "" the call is not signed.'
        )
    if not signs:
        raise InvalidTask(
            f"secret {name!r} of tenant {tenant!r} is not one that signs: those begin with whsec_. Name another, or "
            'set "sign": "" to send the call unsigned.'
        )
    _known_at[tenant, name] = time.monotonic()


def _way_out(tenant: str, name: str) -> str:
    return f"Set it with `manage.py secrets set {name} --tenant {tenant}`, on the page of secrets or through the API."


def opened(wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Opened]:
    """Those of these (tenant, name) that there are, opened as far as they can be."""
    pairs = set(wanted)
    if not pairs:
        return {}
    tenants, names = {tenant for tenant, _ in pairs}, {name for _, name in pairs}
    rows = Secret.objects.filter(tenant__in=tenants, name__in=names)
    return {(row.tenant, row.name): _opened(row) for row in rows if (row.tenant, row.name) in pairs}


def _opened(row: Secret) -> Opened:
    try:
        values = tuple(unsealed(row, text) for text in row.values)
    except (CannotUnseal, Unreadable, KeyOutOfReach) as error:
        return Opened((), problem=str(error))
    return Opened(values, frozenset(row.hosts), row.signs)


def sealed(row: Secret, value: str) -> str:
    """What may be stored of a value: encrypted with its tenant's key, if the tenant asks for that."""
    if not Tenant.objects.filter(name=row.tenant, encrypted=True).exists():
        return seal(value, bound_to(row.id))
    newest = newest_keys([row.tenant])[row.tenant]
    [found] = newest.key.encrypt([value], [of_secret(row.tenant, row.id)])
    return found.as_text


def unsealed(row: Secret, text: str) -> str:
    """Raises CannotUnseal, Unreadable and KeyOutOfReach."""
    hidden = as_text(text)
    if not isinstance(hidden, Encrypted):
        return unseal(text, bound_to(row.id))
    key = opened_keys([hidden.key])[hidden.key]
    if isinstance(key, Unreadable | KeyOutOfReach):
        raise key
    return key.decrypt(hidden.envelope, of_secret(row.tenant, row.id))


def bound_to(secret_id: int) -> str:
    """What a secret is sealed to: copied to another row, it can't be opened."""
    return f"punctual_secret/{secret_id}"


def forget(tenant: str, name: str) -> None:
    """It is not known to be there any more, in this process."""
    _known_at.pop((tenant, name), None)
