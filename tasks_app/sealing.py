"""seal and unseal with this installation's keys: PUNCTUAL["SECRET_KEYS"], or a key made from Django's SECRET_KEY."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path

from django.conf import settings
from django.core.signals import setting_changed

from .conf import conf
from .core.audit_keys import AuditKeys, key_of
from .core.audit_keys import problems_of as audit_problems
from .core.errors import InvalidConfiguration
from .core.keyring import Keyring, MasterKey, derived_key, local_key, problems_of


def seal(plain: str, bound_to: str) -> str:
    """What may be stored of a secret; `bound_to` says what it belongs to, and is needed to open it."""
    return keyring().seal(plain, bound_to)


def unseal(sealed: str, bound_to: str) -> str:
    """Raises CannotUnseal."""
    return keyring().unseal(sealed, bound_to)


@lru_cache(maxsize=10_000)
def unseal_key(sealed: str, bound_to: str) -> str:
    """unseal for keys of tenants, which are opened all the time: each once in a process. Raises CannotUnseal."""
    return unseal(sealed, bound_to)


@cache
def keyring() -> Keyring:
    """The keys that are named; behind them those made from SECRET_KEY, for what was sealed before any was named."""
    return Keyring([*_named_keys(), *_derived_keys()])


def keys_are_named() -> bool:
    return bool(conf().SECRET_KEYS or conf().SECRET_KEYS_FILE)


@cache
def audit_keys() -> AuditKeys:
    """What signs and verifies anchors and exports of the audit trail: PUNCTUAL["AUDIT_KEYS"], and those in a file."""
    return AuditKeys(key_of(key) for key in [*conf().AUDIT_KEYS, *_keys_in_file("AUDIT_KEYS_FILE", audit_problems)])


def _named_keys() -> Iterator[MasterKey]:
    for key in [*conf().SECRET_KEYS, *_keys_in_file("SECRET_KEYS_FILE", problems_of)]:
        yield local_key(key) if isinstance(key, str) else key


def _keys_in_file(setting: str, problems_of: Callable[[list[str], str], Iterable[str]]) -> list[str]:
    place = getattr(conf(), setting)
    if not place:
        return []
    where = f'PUNCTUAL["{setting}"], {place}'
    try:
        lines = [line.strip() for line in Path(place).read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(f"{where}, can't be read: {error}") from None
    keys = [line for line in lines if line and not line.startswith("#")]
    if problems := list(problems_of(keys, where)) or ([] if keys else [f"{where}, has no key in it."]):
        raise InvalidConfiguration("\n".join(problems))
    return keys


def _derived_keys() -> Iterator[MasterKey]:
    for secret_key in [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]:
        if secret_key:
            yield derived_key(str(secret_key))


def _forget(*, setting: str, **_: object) -> None:
    if setting in ("PUNCTUAL", "SECRET_KEY", "SECRET_KEY_FALLBACKS"):
        keyring.cache_clear()
        unseal_key.cache_clear()
        audit_keys.cache_clear()


setting_changed.connect(_forget)
