"""Rules about the tables, what is moved out of them, and the archive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks_app.conf import conf
from tasks_app.core.said import said, said_of

from .problem import Problem, error_said, notice, span, trouble
from .telling import somebody_waits

if TYPE_CHECKING:
    from ..status import SchedulerStatus
    from ..storage import Held, Partitioned

ALARM = 8  # times as long as it takes to be told: then somebody has to look
MOVING_SECONDS = 600.0  # what is over may wait for the mover for so long
PARTITION_LATE_SECONDS = 86_400.0
ARCHIVE_PATIENCE_SECONDS = 86_400.0  # what waits for the archive for longer than a day fills the disk


def vacuum_held_back(status: SchedulerStatus) -> Iterator[Problem]:
    """One sentence for the worst: what it holds back, the others hold back no further."""
    held = [one for one in status.storage.held if one.too_long]
    if not held:
        return
    worst = max(held, key=lambda one: (one.seconds or 0.0, one.transactions or 0))
    others = said(" So do {count} more.", count=len(held) - 1) if len(held) > 1 else ""
    kind = f"{'an' if worst.kind.startswith('i') else 'a'} {worst.kind}"
    sentence = said(
        "PostgreSQL can't clean up: {kind} has been in its way for {long}.{others}",
        kind=kind,
        long=_held_for(worst),
        others=others,
    )
    way_out = said("`manage.py storage` names it. End it, or dead rows pile up and everything gets slower.")
    alarm = (worst.seconds or 0.0) > ALARM * conf().VACUUM_HELD_SECONDS
    detail = said("It is {name} ({detail}).", name=worst.name, detail=worst.detail)
    yield (trouble if alarm else notice)(sentence, way_out, detail)


def _held_for(held: Held) -> object:
    if held.seconds is not None:
        return span(held.seconds)
    return said("{count:,} transactions", count=held.transactions)


def moving_behind(status: SchedulerStatus) -> Iterator[Problem]:
    moving = status.storage.moving
    if moving.oldest_seconds is not None and moving.oldest_seconds > max(MOVING_SECONDS, 10 * conf().MOVE_SECONDS):
        told = {"count": moving.tasks, "time": span(moving.oldest_seconds)}
        words = (
            said(
                "What is over stays among what is live: {count:,} tasks should have been moved, the first {time} ago.",
                **told,
            )
            if moving.exact
            else said(
                "What is over stays among what is live: more than {count:,} tasks should have been moved, the first "
                "{time} ago.",
                **told,
            )
        )
        yield notice(
            words,
            said(
                "The chore `move` does it. If it is done and this stays, what is finished is more than one beat can "
                "move."
            ),
        )


def _goes_on(family: Partitioned) -> bool:
    """Not so the table of a retention class that was taken out of the settings: nothing is moved there any more."""
    name = family.family.removeprefix("punctual_past_")
    return name in (family.family, "batch") or name in conf().retention_classes


def partitions_behind(status: SchedulerStatus) -> Iterator[Problem]:
    span_seconds = conf().partition_span.total_seconds()
    # The first ones are made by the first beat, in its first seconds; if it can't, the chore is told to fail.
    made = any(one.name == "partition" and one.done_seconds_ago is not None for one in status.chores)
    short = [
        one.family
        for one in status.storage.partitioned
        if one.reaches_seconds < span_seconds and _goes_on(one) and (made or one.partitions)
    ]
    if short:
        yield notice(
            said("The next partition is missing: {tables}.", tables=", ".join(short)),
            said("The chore `partition` makes them, days ahead; the beats' logs say why it can't."),
        )
    for one in status.storage.partitioned:
        if one.family == "punctual_outbox" and somebody_waits(status):
            continue  # told by another rule
        late = one.oldest_ended_seconds - one.keep.total_seconds() if one.keep is not None else 0.0
        if late > max(PARTITION_LATE_SECONDS, 2 * span_seconds):
            yield notice(
                said("The oldest part of {table} should have gone {time} ago.", table=one.family, time=span(late)),
                said("Somebody reads it without an end, or the chore `partition` fails; the beats' logs say which."),
            )


def archive_waits(status: SchedulerStatus) -> Iterator[Problem]:
    one = status.archive
    if not one.waiting:
        return
    waited = one.waiting_seconds or 0.0
    told = trouble if waited > ARCHIVE_PATIENCE_SECONDS else notice
    yield told(
        said_of(
            "{count:,} partition has been waiting for the archive for {time}: nothing is lost, but the database grows.",
            "{count:,} partitions have been waiting for the archive for {time}: nothing is lost, but the database "
            "grows.",
            one.waiting,
            count=one.waiting,
            time=span(waited),
        ),
        said("See that the archive can be reached and has room; `manage.py archive` shows what waits."),
        error_said(one.error),
    )
