"""The verdict on a status: what is wrong, and what to do about it. Each rule looks at one thing; nothing is read here.

Trouble is what somebody has to look at now: tasks wait, or would. A notice can wait for the morning: the scheduler
works, but "all is well" is not said beside it.

What follows from a missing beat is not reported beside it: each of those sentences would blame another process.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tasks_app.core.said import joined

from .audit import audit_entries_missing, audit_not_anchored, audit_trail_broken, audit_unchained
from .backup import backup_behind, no_base
from .chores import (
    campaigns_stuck,
    campaigns_wait,
    chores_fail,
    chores_never_end,
    chores_wait,
    lost_and_not_reaped,
)
from .fleet import (
    a_beat_is_alive,
    broken_queue,
    lane_without_worker,
    no_dispatcher,
    no_worker,
    shards_without_dispatcher,
    silent_broker,
    unknown_limits,
    unknown_shards,
)
from .installation import in_quarantine, overdue_held, recovery_holds
from .keys import keys_not_rotated, keys_out_of_reach
from .lanes import canary_never_flew, canary_not_back, paused_with_due
from .lateness import overdue, planning_behind, started_late, turns_behind
from .problem import Problem, Severity
from .stalls import beats_stalled, items_skipped
from .storage import archive_waits, moving_behind, partitions_behind, vacuum_held_back
from .tasks import dead_tasks, safeguards_act
from .telling import (
    alarms_not_told,
    events_missed,
    hosts_unwell,
    subscription_behind,
    subscription_failing,
    subscription_suspended,
)

if TYPE_CHECKING:
    from ..status import SchedulerStatus

RULES = (
    in_quarantine,
    overdue_held,
    no_dispatcher,
    no_worker,
    silent_broker,
    broken_queue,
    lane_without_worker,
    canary_not_back,
    canary_never_flew,
    shards_without_dispatcher,
    unknown_shards,
    unknown_limits,
    planning_behind,
    turns_behind,
    lost_and_not_reaped,
    items_skipped,
    beats_stalled,
    chores_fail,
    chores_wait,
    overdue,
    started_late,
    chores_never_end,
    vacuum_held_back,
    moving_behind,
    partitions_behind,
    archive_waits,
    backup_behind,
    no_base,
    audit_unchained,
    audit_entries_missing,
    audit_trail_broken,
    audit_not_anchored,
    keys_out_of_reach,
    keys_not_rotated,
    subscription_suspended,
    events_missed,
    subscription_failing,
    subscription_behind,
    paused_with_due,
    recovery_holds,
    campaigns_stuck,
    campaigns_wait,
    alarms_not_told,
    hosts_unwell,
    safeguards_act,
    dead_tasks,
)


UNDISPATCHED = (canary_not_back, canary_never_flew, overdue, planning_behind, turns_behind)  # no beat dispatches
# No beat is alive, so nothing is done beside dispatching either.
UNDONE = (
    lost_and_not_reaped,
    chores_never_end,
    moving_behind,
    partitions_behind,
    audit_unchained,
    audit_not_anchored,
    subscription_behind,
    campaigns_wait,
)


def judge(status: SchedulerStatus) -> tuple[Problem, ...]:
    """All that is wrong, trouble first; nothing when all is well."""
    # In quarantine nothing else is as it should be, and nothing else matters.
    rules = (in_quarantine,) if status.installation.closed else RULES
    found = [replace(problem, rule=rule.__name__) for rule in rules for problem in rule(status)]
    found = _causes(found, alive=a_beat_is_alive(status))
    return tuple(sorted(found, key=lambda problem: problem.severity is Severity.NOTICE))


def _causes(found: list[Problem], *, alive: bool) -> list[Problem]:
    """Without what follows from a missing beat; that says for how long tasks have waited."""
    cause = next((one for one in found if one.rule == no_dispatcher.__name__), None)
    if cause is None:
        return found
    names = {rule.__name__ for rule in (UNDISPATCHED if alive else UNDISPATCHED + UNDONE)}
    followed = [one for one in found if one.rule in names]
    late = [one.sentence for one in followed if one.rule == overdue.__name__]
    follows = tuple(sorted({one.rule for one in followed}))
    whole = replace(cause, sentence=joined(cause.sentence, *late), follows=follows)
    return [whole if one is cause else one for one in found if one not in followed]
