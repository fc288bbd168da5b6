"""What a person may do to a campaign: pause, resume, cancel. Each waits for the step that is running, if one is."""

from typing import NamedTuple

from tasks_app.core.campaigns import CampaignState
from tasks_app.core.errors import NotThere
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
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
