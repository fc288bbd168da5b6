"""Which tenants ask for all of their data to be encrypted, as far as this process has found out.

A hint: a statement that writes payloads leaves out what should be encrypted and is not, and what is here is looked up
when it is used.
"""

from collections.abc import Iterable

ASKING: set[str] = set()


def note_asking(tenants: Iterable[str]) -> None:
    """What is written of these from now on is encrypted, as long as they ask for it."""
    ASKING.update(tenants)
