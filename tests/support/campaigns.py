"""Campaigns in a word: begin one, and take it as far as a beat would."""

from datetime import datetime, timedelta

from django.utils import timezone

from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.beat.campaigns import run_once
from tasks_app.engine.operations.campaigns import Pace, start_for, start_matching
from tasks_app.engine.watch.browse import Filter
from tasks_app.lifecycle.audit import Entry, audit
from tasks_app.lifecycle.campaigns import steps
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import Campaign
from tests.support.operators import operator

BEAT = "beat"


def begun(kind: Verb, ids: list[int], *, at: datetime | None = None, by=None, move=None, **pace: object) -> Campaign:
    return start_for(kind, [ids], by or operator(), Pace(**pace), at=at, **move or {})


def begun_for(kind: Verb, wanted: Filter, *, at: datetime | None = None, by=None, **pace: object) -> Campaign:
    return start_matching(kind, wanted, by or operator(), Pace(**pace), at=at, selection="some")


def carried_out(campaign: Campaign, steps_: int = 1_000) -> Campaign:
    """Step by step, whatever its rate says about the time between them."""
    for _ in range(steps_):
        hurry(campaign)
        if run_once(BEAT) is None:
            break
    campaign.refresh_from_db()
    return campaign


def older_than_undo(task: int) -> Campaign:
    """A move that is done, and whose entry says nothing of when the task was to run."""
    by = operator()
    moved = begun(Verb.MOVE, [task], at=timezone.now() + timedelta(days=9), by=by)
    Campaign.objects.filter(id=moved.id).update(state="DONE", done=1, counts={"moved": 1}, tenant=DEFAULT_TENANT)
    audit(by, "move", [Entry(f"task {task}", "moved", task, {"before": "INIT"}, DEFAULT_TENANT, "T_QUIET")])
    moved.refresh_from_db()
    return moved


def hurry(campaign: Campaign) -> None:
    """Time is moved by writing it: the rate allows its next step now."""
    Campaign.objects.filter(id=campaign.id, next_at__gt=timezone.now()).update(
        next_at=timezone.now() - timedelta(seconds=1)
    )


def measured(campaign: Campaign) -> Campaign:
    """What became of all that it released is looked at once more."""
    for _ in range(campaign.chunks.count() + 1):
        Campaign.objects.filter(id=campaign.id, waiting__gt=0).update(measure_at=timezone.now() - timedelta(hours=1))
        steps.measure()
    campaign.refresh_from_db()
    return campaign
