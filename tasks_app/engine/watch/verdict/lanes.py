"""Rules about lanes: what waits in them, and whether they let anything through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tasks_app.core.said import said, said_of

from .fleet import nobody_dispatches
from .problem import Problem, are_due, lanes_named, notice, trouble

if TYPE_CHECKING:
    from ..status import LaneStatus, SchedulerStatus


def canary_not_back(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if not lane.slots or not lane.canary_missing:
            continue
        told = {"lane": lane.lane, "seconds": lane.canary_seconds, "slots": lane.slots}
        if status.batches_running >= lane.slots:
            words = said_of(
                "The canary of lane {lane!r} has not come back for {seconds:.0f} s: the only slot that serves the lane "
                "is busy.",
                "The canary of lane {lane!r} has not come back for {seconds:.0f} s: all {slots} slots that serve the "
                "lane are busy.",
                lane.slots,
                **told,
            )
            yield trouble(words, said("Start more workers."))
        else:
            words = said(
                "The canary of lane {lane!r} has not come back for {seconds:.0f} s, although a worker says that it "
                "serves the lane.",
                **told,
            )
            yield trouble(words, said("Restart that worker."))


def canary_never_flew(status: SchedulerStatus) -> Iterator[Problem]:
    lanes = [lane.lane for lane in status.lanes if lane.canary_absent]
    if lanes and nobody_dispatches(status.nodes) is None:
        yield trouble(
            said_of(
                "No canary has ever run in {lanes}, although workers serve it.",
                "No canary has ever run in {lanes}, although workers serve them.",
                len(lanes),
                lanes=lanes_named(lanes),
            ),
            said("A beat schedules them; its log says why it can't: look for maintenance.failed."),
        )


def paused_with_due(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if lane.paused and not lane.paused.safeguard and lane.due:
            yield notice(
                said("Lane {lane!r} is paused, and {due} in it.", lane=lane.lane, due=are_due(lane)),
                said("Resume it on the Fleet page, or with `manage.py lane resume {lane}`.", lane=lane.lane),
            )


def due_in(lanes: Sequence[LaneStatus]) -> str:
    """What is due in them, behind a sentence; empty: nothing is."""
    told = ""
    for lane in lanes:
        one = said("{due} in {lane}", due=are_due(lane), lane=lane.lane)
        told = said("{before}, {due}", before=told, due=one) if told else said("; {due}", due=one)
    return told
