"""Processes that are alive as far as the tables say, however slow the machine: none falls silent before a test ends."""

from datetime import timedelta
from uuid import uuid4

from django.db.models.functions import Now
from django.utils import timezone

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.engine.beat.chores import CHORES
from tasks_app.models import MaintenanceEntry, Node, ShardLease


def a_beat_is_alive() -> None:
    """It dispatches every shard."""
    soon = timezone.now() + timedelta(hours=1)
    node = Node.objects.create(node_id=uuid4(), kind=Node.BEAT, name="beat:1", seen_at=soon, renewed_at=soon)
    ShardLease.objects.all().delete()
    ShardLease.objects.bulk_create(
        ShardLease(shard=shard, holder=node.node_id, holder_name=node.name, lease_until=soon)
        for shard in range(conf().SHARDS)
    )


def a_worker_is_alive(*lanes: str, slots: int = 1) -> None:
    soon = timezone.now() + timedelta(hours=1)
    lanes = list(lanes or LANES)
    Node.objects.create(node_id=uuid4(), kind=Node.WORKER, name="worker:1", slots=slots, lanes=lanes, seen_at=soon)


def all_chores_are_done() -> None:
    """As a beat notes it: to do them takes longer than most tests. Not `partition`: what it makes would be missing."""
    done = [chore for chore in CHORES if chore.every() > 0 and chore.name != "partition"]
    wanted = [(chore.name, timedelta(seconds=chore.every())) for chore in done]
    MaintenanceEntry.objects.bulk_create(
        MaintenanceEntry(name=name, next_at=Now() + every, ran_at=Now(), ran_by="beat-1", done_at=Now())
        for name, every in wanted
    )


def nobody_is_alive() -> None:
    Node.objects.all().delete()
    ShardLease.objects.all().delete()
