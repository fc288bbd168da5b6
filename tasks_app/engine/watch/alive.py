"""Whether anybody dispatches and anybody runs tasks: the first thing to ask when something is late."""

from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Coalesce, Now
from redis.exceptions import RedisError

from tasks_app.conf import conf
from tasks_app.engine.wakeup import client
from tasks_app.models import Installation, Node, TaskBatch

from .fleet_status import pauses


def what_delays(lane: str) -> str:
    """In words, what is known to keep due tasks of this lane from starting; empty: nothing is."""
    missing = who_is_missing(lane)
    if missing:
        return missing
    pause = pauses().get(lane)
    if pause is not None:
        return f"the lane {lane!r} is {pause.words} by {pause.by} ({pause.reason})"
    slots = slots_of(lane)
    waiting = TaskBatch.objects.filter(finished_at=None, started_at=None, lane=lane).count()
    # So many batches are claimed ahead for each slot. Below that the next due task is claimed at the next look.
    return "every worker is busy" if waiting >= slots * conf().BATCHES_AHEAD else ""


def who_is_missing(lane: str) -> str:
    """In words, who has to be started before a due task of this lane can run; empty: they are there."""
    if Installation.objects.filter(site=None, next_site=None).exists():
        return "all sites stand by"
    live = _live()
    if not any(kind == Node.BEAT for kind, *_ in live):
        return "no beat is running"
    if not any(kind == Node.WORKER for kind, *_ in live):
        return "no worker is running"
    serving = [drained for kind, lanes, _, drained in live if kind == Node.WORKER and lane in lanes]
    if not serving:
        return f"no worker serves the lane {lane!r}"
    if all(serving):
        return f"every worker that serves the lane {lane!r} is drained"
    return ""


def slots_of(lane: str) -> int:
    """So many batches of this lane can run at the same time."""
    return sum(slots for kind, lanes, slots, _ in _live() if kind == Node.WORKER and lane in lanes)


def all_slots() -> int:
    """So many batches can run at the same time, of whatever lane."""
    return sum(slots for kind, _, slots, _ in _live() if kind == Node.WORKER)


def redis_answers(seconds: float = 1.0) -> bool:
    """Whether Redis answers this process in time."""
    try:
        with client(timeout=seconds) as redis:
            return bool(redis.ping())
    except RedisError:
        return False


def _live() -> list[tuple[str, list[str], int, bool]]:
    """Kind, lanes, slots and whether it is drained, of those that have reported themselves lately, but for sites that
    stand by."""
    fresh = timedelta(seconds=conf().NODE_TTL_SECONDS)
    active = Installation.objects.values_list(Coalesce("next_site", "site"))[:1]
    seen = Node.objects.annotate(age=Now() - F("seen_at")).filter(age__lt=fresh, site=Coalesce(active, F("site")))
    rows = seen.values_list("kind", "lanes", "slots", "drained_at")
    return [(kind, lanes, slots, drained_at is not None) for kind, lanes, slots, drained_at in rows]
