"""What a tenant's suspension holds: tasks that have come due are put aside, and put back when the tenant is resumed.

Whoever holds has locked the tenant's row and found it suspended. Beats put back whatever lies aside of a tenant that is
not: nothing depends on who saw what first.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from tasks_app.sql import array, run

from .rehearsal import NEVER

HEAD = 5_000  # due tasks of a type and lane that are looked at, the first


class PutBack(NamedTuple):
    """How many that lay aside were dealt with, and how many of those are due again."""

    done: int
    tasks: int


def hold_started(batch_no: UUID, ids: Sequence[int], tenants: Sequence[str]) -> set[int]:
    """Of a batch that was just started, put aside what is of these tenants, if they are suspended. Returns which."""
    asked = {"batch_no": batch_no, "ids": array(ids), "tenants": list(tenants), "never": NEVER}
    return {id_ for (id_,) in run("hold_started", asked)}


def hold_limited(pairs: Sequence[tuple[str, str]], tenants: Sequence[str]) -> int:
    """Of these limited types and lanes, put aside what is due first of these tenants. Returns how many."""
    types, lanes = zip(*pairs, strict=True)
    asked = {"types": list(types), "lanes": list(lanes), "tenants": list(tenants), "most": HEAD, "never": NEVER}
    return len(run("hold_limited", asked))


def put_back_held(tenant: str, size: int) -> PutBack:
    """Some of what lies aside for a tenant is due when it was before."""
    return PutBack(*run("put_back_held", {"tenant": tenant, "size": size, "never": NEVER})[0])


def held_tenants() -> list[str]:
    """Tenants that are not suspended, and of which tasks lie aside."""
    return [tenant for (tenant,) in run("held_tenants", {})]
