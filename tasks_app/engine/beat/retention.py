"""Prunes what is past its keep and lies in no partitions, in small steps, so that no step holds much or takes long."""

from dataclasses import dataclass

from tasks_app.conf import conf
from tasks_app.core.retention import KEEP_HOURS_DAYS
from tasks_app.sql import run

from .relay.windows import merge_windows

DAY = 86_400
KEEP_NODES_SECONDS = 3_600
KEEP_ANSWERS_DAYS = 1  # of keyed requests to the API
KEEP_HOSTS_DAYS = 7  # that failed and were not called again
KEEP_PROGRESS_DAYS = 1 / 24  # of runs that are over
KEEP_USE_DAYS = 31  # of quotas
KEEP_OUTCOMES_DAYS = 2  # a roll-up looks back a day
CAMPAIGNS = 10  # in one step: a large one has a thousand chunks


@dataclass(frozen=True, slots=True)
class Pruned:
    letters: int
    nodes: int
    answers: int
    revisions: int
    windows: int
    campaigns: int
    incidents: int
    safeguards: int
    alerts: int
    runs: int
    hosts: int
    reports: int
    outcomes: int
    progress: int
    traces: int
    owners: int
    quota_use: int
    hours: int


def prune(steps: int = 20) -> Pruned:
    """At most `steps` small steps of each kind; what is left comes next time."""
    return Pruned(
        letters=_prune("prune_dead_letters", conf().KEEP_HOT_DAYS, steps),
        nodes=len(run("prune_nodes", {"keep": KEEP_NODES_SECONDS})),
        answers=_prune("prune_idempotency", KEEP_ANSWERS_DAYS, steps),
        revisions=_walk("prune_revisions", conf().KEEP_REVISIONS_DAYS, steps),
        windows=merge_windows(),
        campaigns=len(run("prune_campaigns", {"keep": conf().KEEP_CAMPAIGNS_DAYS * DAY, "step": CAMPAIGNS})),
        incidents=_prune("prune_incidents", conf().KEEP_INCIDENTS_DAYS, steps),
        safeguards=_prune("prune_safeguards", conf().KEEP_INCIDENTS_DAYS, steps),
        alerts=_prune("prune_alerts", conf().KEEP_INCIDENTS_DAYS, steps),
        runs=_prune("prune_runs", conf().KEEP_HOT_DAYS, steps),
        hosts=_prune("prune_hosts", KEEP_HOSTS_DAYS, steps),
        reports=_prune("prune_reports", KEEP_ANSWERS_DAYS, steps),
        outcomes=_prune("prune_away_outcomes", KEEP_OUTCOMES_DAYS, steps),
        progress=_walk("prune_progress", KEEP_PROGRESS_DAYS, steps),
        traces=_walk("prune_traces", 0, steps),
        owners=_prune("prune_owned_units", KEEP_ANSWERS_DAYS, steps),
        quota_use=_prune("prune_quota_use", KEEP_USE_DAYS, steps),
        hours=_prune("prune_hours", KEEP_HOURS_DAYS, steps),
    )


def _prune(statement: str, keep_days: float, steps: int) -> int:
    total = 0
    for _ in range(steps):
        gone = len(run(statement, {"keep": keep_days * DAY, "step": conf().PRUNE_STEP}))
        total += gone
        if gone < conf().PRUNE_STEP:
            break
    return total


_cursors = {"prune_revisions": 0, "prune_progress": 0, "prune_traces": 0}  # where the walk over the ids goes on
_VAIN_STEPS = 2  # stretches without anything to delete, before the walk rests until next time


def _walk(statement: str, keep_days: float, steps: int) -> int:
    total, vain = 0, 0
    for _ in range(steps):
        params = {"after": _cursors[statement], "keep": keep_days * DAY, "step": conf().PRUNE_STEP}
        ((last, gone),) = run(statement, params)
        total += gone
        vain = 0 if gone else vain + 1
        _cursors[statement] = last or 0
        if last is None or vain == _VAIN_STEPS:
            break
    return total
