"""Which shards there are, and which one a unit belongs to."""

from collections.abc import Sequence
from itertools import repeat

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.sharding import home_of, shard_of, shards_of_keys
from tasks_app.models import ShardLease


def all_shards() -> list[int]:
    """Those of the settings, and those in which tasks of earlier settings may lie."""
    kept = ShardLease.objects.filter(shard__gte=conf().SHARDS).values_list("shard", flat=True)
    return [*range(conf().SHARDS), *sorted(kept)]


def shards_of(tenants: Sequence[str], task_types: Sequence[str], keys: Sequence[str]) -> list[int]:
    """The shard of each unit."""
    shards = list(map(shard_of, tenants, task_types, keys, repeat(conf().SHARDS)))
    limited = REGISTRY.limited(task_types)
    if limited:
        homes = {task_type: home_of(task_type, conf().SHARDS) for task_type in limited}
        shards = [homes.get(task_type, shard) for task_type, shard in zip(task_types, shards, strict=True)]
    return shards


def shard_of_one(tenant: str, task_type: str, key: str) -> int:
    """shards_of for a single unit, in a fraction of the time."""
    if REGISTRY.is_limited(task_type):
        return home_of(task_type, conf().SHARDS)
    return shard_of(tenant, task_type, key, conf().SHARDS)


def shards_alike(tenant: str, task_type: str, keys: Sequence[bytes]) -> list[int]:
    """The shards of units that differ in nothing but their keys, which are encoded."""
    if REGISTRY.is_limited(task_type):
        return [home_of(task_type, conf().SHARDS)] * len(keys)
    return shards_of_keys(tenant, task_type, keys, conf().SHARDS)
