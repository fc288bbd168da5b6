"""What a person may do to a campaign: pause, resume, cancel, change its pace.

Each waits for the step that is running, if one is.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tasks_app.core.campaigns import CampaignState, checked_most_running, checked_rate
from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.campaigns.begin import RELEASES
from tasks_app.lifecycle.campaigns.finished import tell_finished
from tasks_app.models import Campaign
from tasks_app.sql import run

RUNNING, PAUSED, CANCELLED = CampaignState.RUNNING, CampaignState.PAUSED, CampaignState.CANCELLED


class Changed(NamedTuple):
    campaign: Campaign  # as it is now
    changed: bool  # False: it was so already, or is over; nothing was written


def pause(campaign: int, operator: Operator) -> Changed:
    """No further step until it is resumed; what it has released runs on."""
    return _change(campaign, "pause", PAUSED, (RUNNING,), operator)


def resume(campaign: int, operator: Operator) -> Changed:
    return _change(campaign, "resume", RUNNING, (PAUSED,), operator)


def cancel(campaign: int, operator: Operator) -> Changed:
    """The tasks that it has not come to stay as they are; what it has done stays done."""
    return _change(campaign, "cancel", CANCELLED, (RUNNING, PAUSED), operator)


def change_pace(campaign: int, changes: Mapping[str, float | None], operator: Operator) -> Changed:
    """Another `rate` or `most_running`, or both; None: no limit. What is not given stays as it is."""
    if unknown := changes.keys() - {"rate", "most_running"}:
        raise InvalidTask(f"{min(unknown)!r} of a campaign can't be changed; rate and most_running can.")
    if not changes:
        raise InvalidTask("nothing to change was given; give rate or most_running.")
    with atomic(savepoint=False):
        before = Campaign.objects.select_for_update(no_key=True).filter(id=campaign).first()
        if before is None:
            raise NotThere(f"There is no campaign {campaign}.")
        if changes.get("most_running") is not None and before.kind not in RELEASES:
            raise InvalidTask(f"most_running: campaign {campaign} makes no task run, so it has no such limit.")
        pace: dict[str, Any] = {"rate": before.rate, "most_running": before.most_running}
        wanted = pace | dict(changes)
        new = {"rate": checked_rate(wanted["rate"]), "most_running": checked_most_running(wanted["most_running"])}
        moved = run("change_pace", {"campaign": campaign, **new})
        row = Campaign.objects.get(id=campaign)
        if moved:
            detail = {"before": pace, "after": new}
            audit(operator, "pace", [Entry(f"campaign {campaign}", "paced", None, detail, row.tenant, row.task_type)])
    return Changed(row, bool(moved))


def _change(
    campaign: int, verb: str, state: CampaignState, expected: tuple[CampaignState, ...], operator: Operator
) -> Changed:
    with atomic(savepoint=False):
        moved = run("change_campaign", {"campaign": campaign, "state": state, "expected": list(expected)})
        row = Campaign.objects.filter(id=campaign).first()
        if row is None:
            raise NotThere(f"There is no campaign {campaign}.")
        if moved:
            entry = Entry(f"campaign {campaign}", row.state.lower(), None, None, row.tenant, row.task_type)
            audit(operator, verb, [entry])
            if row.state == CANCELLED:
                tell_finished(row.id, row.kind, row.tenant, row.state, row.counts)
    return Changed(row, bool(moved))
