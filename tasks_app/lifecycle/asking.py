"""Which tenants ask for all of their data to be encrypted, as far as this process has found out.

A hint: a statement that writes payloads leaves out what should be encrypted and is not, and what is here is looked up
when it is used.
"""

from collections.abc import Iterable, Sequence

from tasks_app.core.handlers import REGISTRY

from .request import Unit

ASKING: set[str] = set()


def note_asking(tenants: Iterable[str]) -> None:
    """What is written of these from now on is encrypted, as long as they ask for it."""
    ASKING.update(tenants)


def may_concern(units: Sequence[Unit]) -> bool:
    """False: none of these is to be encrypted, as far as anybody here knows."""
    types = REGISTRY.encrypted
    if not ASKING and not types:
        return False
    return any(tenant in ASKING or task_type in types for tenant, task_type, _ in units)
