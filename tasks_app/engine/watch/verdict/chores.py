"""Rules about what the beats do beside dispatching."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tasks_app.conf import conf
from tasks_app.core.said import said, said_of

from .problem import Problem, error_said, notice, span, trouble

if TYPE_CHECKING:
    from ..fleet_status import ChoreView
    from ..status import SchedulerStatus

CHORE_PATIENCE_SECONDS = 60.0  # a chore may wait so long for another that takes its time
CHORE_ENDLESS_SECONDS = 1_800.0  # and take so long, or ten times as long as it is apart
CAMPAIGN_FAILURES = 3  # steps of one campaign in a row


def lost_and_not_reaped(status: SchedulerStatus) -> Iterator[Problem]:
    lost = sum(lane.batches_lost for lane in status.lanes)
    if lost:
        oldest = max(lane.lost_seconds or 0.0 for lane in status.lanes if lane.batches_lost)
        yield trouble(
            said_of(
                "{count:,} batch lost its lease {time} ago, and its tasks aren't due again yet.",
                "{count:,} batches lost their leases up to {time} ago, and their tasks aren't due again yet.",
                lost,
                count=lost,
                time=span(oldest),
            ),
            said(
                "A beat should have seen to that; if one is alive, its log says why it can't: look for "
                "maintenance.failed."
            ),
        )


def chores_fail(status: SchedulerStatus) -> Iterator[Problem]:
    """Once may be a deadlock, and the next time is near; told, but no trouble."""
    by_error: dict[tuple[str, bool], list[ChoreView]] = {}
    for one in status.chores:
        if one.failures:
            by_error.setdefault((one.error, one.failures > 1), []).append(one)
    for (error, again), ones in by_error.items():
        told = {"chores": _names(ones), "time": span(max(one.failing_seconds or 0.0 for one in ones))}
        where = said("The beats' logs have the details: look for maintenance.failed.")
        detail = error_said(error)
        if again:
            words = said_of(
                "The chore {chores} has been failing for {time}.",
                "The chores {chores} have been failing for {time}.",
                len(ones),
                **told,
            )
            yield trouble(words, where, detail)
        else:
            words = said_of(
                "The chore {chores} failed {time} ago, and will be tried again.",
                "The chores {chores} failed {time} ago, and will be tried again.",
                len(ones),
                **told,
            )
            yield notice(words, where, detail)


def chores_wait(status: SchedulerStatus) -> Iterator[Problem]:
    patience = max(CHORE_PATIENCE_SECONDS, 3 * conf().NODE_SECONDS)
    late = [one for one in status.chores if one.waiting_seconds > patience]
    if late:
        yield trouble(
            said_of(
                "Nobody is doing the chore {chores}: it has been due for {time}, although a beat is alive.",
                "Nobody is doing the chores {chores}: they have been due for {time}, although a beat is alive.",
                len(late),
                chores=_names(late),
                time=span(max(one.waiting_seconds for one in late)),
            ),
            said("Its log says why: look for maintenance.failed. If it says nothing, restart it."),
        )


def chores_never_end(status: SchedulerStatus) -> Iterator[Problem]:
    for one in status.chores:
        if one.name == "archive" and status.archive.writing:
            continue  # the lease on its partition is renewed as it goes on, so it does; a day may take hours
        if one.begun_seconds > max(CHORE_ENDLESS_SECONDS, 10 * one.every_seconds):
            done = one.done_seconds_ago
            words = (
                said("The chore {chore} was never finished, although beats start it.", chore=one.name)
                if done is None
                else said(
                    "The chore {chore} was last finished {time} ago, although beats start it.",
                    chore=one.name,
                    time=span(done),
                )
            )
            yield notice(words, said("If its beat's log says nothing about it, it hangs: restart the beats."))


def campaigns_stuck(status: SchedulerStatus) -> Iterator[Problem]:
    """A step that failed once may have waited for a lock, and is tried again soon."""
    for one in status.campaigns:
        if one.failures >= CAMPAIGN_FAILURES:
            yield notice(
                said("Campaign {id} doesn't get on: its last {count:,} steps failed.", id=one.id, count=one.failures),
                said("It is tried again every minute. Its page says why, and there it can be cancelled."),
                error_said(one.error),
            )


def campaigns_wait(status: SchedulerStatus) -> Iterator[Problem]:
    for one in status.campaigns:
        if one.late_seconds is not None and not one.failures:
            yield notice(
                said(
                    "Campaign {id} has been waiting for its next step for {time}.",
                    id=one.id,
                    time=span(one.late_seconds),
                ),
                said("The beats do it in the chore `campaign`; their logs say why they can't."),
            )


def _names(chores: Sequence[ChoreView]) -> str:
    return ", ".join(one.name for one in chores)
