"""Which shards there are: those of the settings, and those in which tasks of earlier settings may lie."""

from tasks_app.conf import conf
from tasks_app.models import ShardLease


def all_shards() -> list[int]:
    kept = ShardLease.objects.filter(shard__gte=conf().SHARDS).values_list("shard", flat=True)
    return [*range(conf().SHARDS), *sorted(kept)]
