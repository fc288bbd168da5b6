"""Campaigns: one order for many tasks, carried out step by step; and backfills, which are campaigns for jobs.

All of it happens in the caller's transaction; the beats do the rest after its commit.
"""

from tasks_app.core.backfill import Which
from tasks_app.core.errors import NothingToDo, RetryLimited
from tasks_app.engine.operations.backfill import BackfillRequest, foresee_backfill
from tasks_app.engine.operations.backfill import start as start_backfill
from tasks_app.engine.operations.campaigns import Pace, undo_operation
from tasks_app.engine.operations.campaigns import start_matching as start_campaign
from tasks_app.engine.watch.browse import Filter
from tasks_app.engine.watch.campaign_browse import campaign_by_id as find_campaign
from tasks_app.lifecycle.campaigns.verbs import cancel as cancel_campaign
from tasks_app.lifecycle.campaigns.verbs import change_pace
from tasks_app.lifecycle.campaigns.verbs import pause as pause_campaign
from tasks_app.lifecycle.campaigns.verbs import resume as resume_campaign
from tasks_app.lifecycle.operate import Verb

__all__ = [
    "BackfillRequest",
    "Filter",
    "NothingToDo",
    "Pace",
    "RetryLimited",
    "Verb",
    "Which",
    "cancel_campaign",
    "change_pace",
    "find_campaign",
    "foresee_backfill",
    "pause_campaign",
    "resume_campaign",
    "start_backfill",
    "start_campaign",
    "undo_operation",
]
