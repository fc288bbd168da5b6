"""The keys of tenants: made when they are first needed, and handed out opened.

They are sealed with the installation's keys, as all stored secrets are: `manage.py secrets rotate` brings them under a
new one. Whether a key is still there is asked each time, so that one which was destroyed opens nothing any more; only
opening it is remembered.
"""

import base64
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple, overload

from django.db import IntegrityError
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.confidential import KEY_BYTES, DataKey, KeyOutOfReach, Unreadable
from tasks_app.core.errors import InvalidTask
from tasks_app.core.keyring import CannotUnseal, key_id_of
from tasks_app.database import atomic
from tasks_app.models import Node, TenantKey
from tasks_app.sealing import keyring, seal, unseal_key
from tasks_app.sql import array, execute, run


class Newest(NamedTuple):
    """What is so of a tenant whose data is to be encrypted."""

    key: DataKey
    asks: bool  # the tenant itself, for all of its data
    max_payload_bytes: int | None


def bound_to(tenant: str, number: int) -> str:
    """What a key is sealed to: copied to another tenant, it can't be opened."""
    return f"punctual_tenant_key/{tenant}/{number}"


def opened_keys(numbers: Collection[int]) -> "dict[int, DataKey | Unreadable | KeyOutOfReach]":
    """These keys, or why one of them opens nothing; in one statement."""
    if not numbers:
        return {}
    rows = run("keys_by_number", {"numbers": array(numbers)})
    found: dict[int, DataKey | Unreadable | KeyOutOfReach] = {
        number: _opened(tenant, number, sealed) for number, tenant, sealed in rows
    }
    for number in numbers:
        if number not in found:
            found[number] = Unreadable(f"It was encrypted with key {number}, which this installation does not know.")
    return found


@overload
def newest_keys(tenants: Collection[str]) -> dict[str, Newest]: ...


@overload
def newest_keys(tenants: Collection[str], *, only_if_asked: bool) -> dict[str, Newest | None]: ...


def newest_keys(
    tenants: Collection[str], *, only_if_asked: bool = False
) -> dict[str, Newest] | dict[str, Newest | None]:
    """What data of these tenants is encrypted with from now on; one that has no key gets one, in this transaction.

    `only_if_asked`: None for tenants that don't ask for all of their data to be encrypted. Raises InvalidTask if the
    keys of one were destroyed, and KeyOutOfReach.
    """
    names = sorted(set(tenants))
    if not names:
        return {}
    found: dict[str, Newest | None] = {}
    for name, number, sealed, in_bytes, asks, most, destroyed in run("newest_keys", {"names": names}):
        if only_if_asked and not asks:
            found[name] = None
            continue
        if number is None:
            if destroyed is not None:
                raise InvalidTask(
                    f"the key of tenant {name!r} was destroyed, so nothing of it can be encrypted. "
                    f"`manage.py keys rotate {name}` makes a new one, for new data."
                )
            made = make_key(name, "scheduler")
            number, sealed, in_bytes = made.id, made.sealed, made.in_bytes
        key = _opened(name, number, sealed, in_bytes=in_bytes)
        if not isinstance(key, DataKey):
            raise key
        found[name] = Newest(key, asks, most)
    return found


def make_key(tenant: str, by: str) -> TenantKey:
    """Of two at the same time, the second waits and takes the first one's."""
    try:
        with atomic():
            # Its number goes into the seal. No request may change a key, so it is sealed before it is written.
            number = execute("SELECT nextval(pg_get_serial_sequence('punctual_tenant_key', 'id'))")[0][0]
            sealed = seal(base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode(), bound_to(tenant, number))
            given = {"tenant": tenant, "created_by": by, "in_bytes": _all_read_bytes()}
            made: TenantKey = TenantKey.objects.create(id=number, sealed=sealed, **given)
    except IntegrityError:
        made = TenantKey.objects.get(tenant=tenant, encrypts=True)
    return made


def _all_read_bytes() -> bool:
    """Not while a beat or worker of an older version is there, which would lose what it can't read."""
    alive = Node.objects.filter(seen_at__gt=Now() - timedelta(seconds=conf().NODE_TTL_SECONDS))
    return not alive.exclude(figures__has_key="in_bytes").exists()


def _opened(tenant: str, number: int, sealed: str, *, in_bytes: bool = True) -> "DataKey | Unreadable | KeyOutOfReach":
    if not sealed:
        return Unreadable(
            f"It was encrypted with key {number} of tenant {tenant!r}, which was destroyed: nobody can read it again."
        )
    try:
        key = base64.b64decode(unseal_key(sealed, bound_to(tenant, number)))
        return DataKey(number, key, in_bytes=in_bytes)
    except CannotUnseal as error:
        if key_id_of(sealed) in keyring():
            return Unreadable(f"Key {number} of tenant {tenant!r} can't be opened: {error}")
        return KeyOutOfReach(f"Key {number} of tenant {tenant!r} can't be opened here: {error}")
    except Exception as error:  # a key management service may fail in any way, and for a while
        return KeyOutOfReach(f"Key {number} of tenant {tenant!r} can't be opened now: {error!r:.200}")
