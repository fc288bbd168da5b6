"""What a person may do to a campaign: pause, resume, cancel. Each waits for the step that is running, if one is."""

from tasks_app.core.campaigns import CampaignState
from tasks_app.core.errors import Conflicting, NotThere
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import Campaign
from tasks_app.sql import run

RUNNING, PAUSED, CANCELLED = CampaignState.RUNNING, CampaignState.PAUSED, CampaignState.CANCELLED


class CampaignOver(Conflicting):
    """It is done, or was cancelled; nothing was changed."""


def pause(campaign: int, operator: Operator) -> Campaign:
    """No further step until it is resumed; what it has released runs on."""
    return _change(campaign, "pause", PAUSED, (RUNNING,), operator)


def resume(campaign: int, operator: Operator) -> Campaign:
    return _change(campaign, "resume", RUNNING, (PAUSED,), operator)


def cancel(campaign: int, operator: Operator) -> Campaign:
    """The tasks that it has not come to stay as they are; what it has done stays done."""
    return _change(campaign, "cancel", CANCELLED, (RUNNING, PAUSED), operator)


def _change(
    campaign: int, verb: str, state: CampaignState, expected: tuple[CampaignState, ...], operator: Operator
) -> Campaign:
    """Asked twice it is done once, and the second answer is the same."""
    with atomic(savepoint=False):
        moved = run("change_campaign", {"campaign": campaign, "state": state, "expected": list(expected)})
        row = Campaign.objects.filter(id=campaign).first()
        if row is None:
            raise NotThere(f"There is no campaign {campaign}.")
        if not moved and row.state != state:
            raise CampaignOver(f"Campaign {campaign} is {row.state}; it can't be {_PAST[verb]}.", row)
        if moved:
            audit(
                operator,
                verb,
                [Entry(f"campaign {campaign}", row.state.lower(), None, None, row.tenant, row.task_type)],
            )
    return row


_PAST = {"pause": "paused", "resume": "resumed", "cancel": "cancelled"}
