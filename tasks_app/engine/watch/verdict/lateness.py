"""Rules about what is late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks_app.core.phrases import milliseconds
from tasks_app.core.said import said, said_of
from tasks_app.models import Node

from .problem import Problem, notice, span, trouble

if TYPE_CHECKING:
    from ..status import SchedulerStatus

OVERDUE_SECONDS = 10.0  # due for longer than this and not started: late
LATE_P95_MS = 2_000.0  # the trigger delay that 95 % of the tasks may have
LATE_P99_MS = 5_000.0
FEW = 20  # of fewer tasks, one is more than 5 %


def overdue(status: SchedulerStatus) -> Iterator[Problem]:
    oldest = status.oldest_overdue_seconds
    if oldest is not None and oldest > OVERDUE_SECONDS:
        yield trouble(
            said_of(
                "The oldest due task has been waiting for {oldest:.0f} s; {due:,} is due.",
                "The oldest due task has been waiting for {oldest:.0f} s; {due:,} are due.",
                status.due,
                oldest=oldest,
                due=status.due,
            )
        )


def started_late(status: SchedulerStatus) -> Iterator[Problem]:
    late = status.lateness
    told: dict[str, object] = {"minutes": late.window_seconds // 60, "started": late.started}
    if late.p95_ms is not None and late.p95_ms > LATE_P95_MS:
        told["late"] = milliseconds(late.p95_ms)
        excuse = _excuse(status)
        if excuse:
            yield notice(
                said(
                    "Tasks started late: in the last {minutes} minutes, 5% of {started:,} by more than {late}; "
                    "{excuse}.",
                    excuse=excuse,
                    **told,
                )
            )
        else:
            yield trouble(
                said("Tasks start late: in the last {minutes} minutes, 5% of {started:,} by more than {late}.", **told),
                said("Start more workers, or pause a lane that can wait."),
            )
    elif late.p99_ms is not None and late.p99_ms > LATE_P99_MS:
        told["late"] = milliseconds(late.p99_ms)
        yield notice(
            said(
                "Some tasks started late: in the last {minutes} minutes, 1% of {started:,} by more than {late}.", **told
            )
        )


def _excuse(status: SchedulerStatus) -> str:
    """Why it is no trouble any more that tasks started late, or not yet; empty: it is."""
    late = status.lateness
    if late.recent_p95_ms is None or late.recent_p95_ms <= LATE_P95_MS:
        return said("those of the last minute were on time")
    if late.started < FEW:
        return said("with fewer than {few}, a single one is enough for that", few=FEW)
    up = max((node.up_seconds for node in status.nodes if node.live and node.kind == Node.WORKER), default=None)
    if up is not None and up < late.window_seconds:
        return said("no worker has been up for longer than {time}", time=span(up))
    return ""


def planning_behind(status: SchedulerStatus) -> Iterator[Problem]:
    behind = status.planning_behind_seconds
    if behind is not None and behind > OVERDUE_SECONDS:
        yield trouble(
            said("Job planning is behind: a firing from {seconds:.0f} s ago has no instance yet.", seconds=behind),
            said(
                "If it stays behind while a beat is alive, its log says why: look for cursor.unreadable or "
                "planner.failed."
            ),
        )


def turns_behind(status: SchedulerStatus) -> Iterator[Problem]:
    behind = status.turns_behind_seconds
    if behind is not None and behind > OVERDUE_SECONDS:
        yield trouble(
            said(
                "Turns are behind: an instance of a job that must not overlap has waited {seconds:.0f} s for a "
                "decision.",
                seconds=behind,
            ),
            said(
                "If it stays behind while a beat is alive, its log says why: look for turns.failed. A transaction that "
                "changes the job, or one of its tasks, and never ends has the same effect."
            ),
        )
