"""What a tenant's suspension holds, or its quota of what may run at the same time: tasks that have come due are put
aside, and put back when the tenant is resumed, or when there is room.

Whoever holds has locked the tenant's row and found it suspended. Beats put back whatever lies aside of a tenant that is
not: nothing depends on who saw what first.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from tasks_app.core.states import NEVER
from tasks_app.database import atomic
from tasks_app.models import Tenant
from tasks_app.sql import array, run

HEAD = 5_000  # due tasks of a type and lane that are looked at, the first


class PutBack(NamedTuple):
    """How many that lay aside were dealt with, and how many of those are due again."""

    done: int
    tasks: int


def hold_started(batch_no: UUID, ids: Sequence[int], tenants: Sequence[str]) -> set[int]:
    """Of a batch that was just started, put aside what is of these tenants, if they are suspended. Returns which."""
    asked = {"batch_no": batch_no, "ids": array(ids), "tenants": list(tenants), "never": NEVER}
    return {id_ for (id_,) in run("hold_started", asked)}


def hold_beyond(batch_no: UUID, tasks: Sequence[tuple[int, str]]) -> set[int]:
    """Of a batch that was just started, put aside what is more than its tenants may have at the same time; these are
    its tasks of such tenants, in the order in which they should run. Returns which."""
    tenants = sorted({tenant for _, tenant in tasks})
    with atomic():
        room: dict[str, int] = dict(run("lock_bounded", {"tenants": tenants}))
        for tenant, running in run("running_of", {"tenants": tenants, "but": batch_no}):
            if tenant in room:
                room[tenant] -= running
        beyond = []
        for id_, tenant in tasks:
            if tenant in room:
                room[tenant] -= 1
                if room[tenant] < 0:
                    beyond.append(id_)
        if not beyond:
            return set()
        held = run("hold_beyond", {"batch_no": batch_no, "ids": array(sorted(beyond)), "never": NEVER})
    return {id_ for (id_,) in held}


def room_of(tenants: Sequence[str]) -> dict[str, int]:
    """Of those that may have only so many tasks at the same time: how many more that is now."""
    found = Tenant.objects.filter(name__in=tenants, max_running__isnull=False)
    room = dict(found.values_list("name", "max_running"))
    for tenant, running in run("running_of", {"tenants": list(room), "but": None}) if room else ():
        room[tenant] -= running
    return room


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
