"""Rules about what has to be told to others: subscriptions, alarms, callbacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tasks_app.conf import conf
from tasks_app.core.said import said, said_of

from .problem import NAMED, Problem, error_said, notice, span, trouble

if TYPE_CHECKING:
    from ..relay_status import SubscriptionView
    from ..status import SchedulerStatus

HOST_PATIENCE_SECONDS = 60.0  # callbacks may wait for a host for so long
CHANNEL_PATIENCE_SECONDS = 300.0  # an alarm channel may fail for so long
RELAY_PATIENCE_SECONDS = 60.0  # events may wait for a subscriber for so long, and it may be away for so long


def subscription_suspended(status: SchedulerStatus) -> Iterator[Problem]:
    if ones := status.relay.suspended:
        yield trouble(
            said_of(
                "{count:,} subscription is suspended: nothing could be delivered for too long. Events wait for it, for "
                "{days:g} days at most.",
                "{count:,} subscriptions are suspended: nothing could be delivered for too long. Events wait for them, "
                "for {days:g} days at most.",
                len(ones),
                count=len(ones),
                days=conf().KEEP_OUTBOX_MOST_DAYS,
            ),
            said("See to the receiver, then resume it: `manage.py outbox resume NAME`."),
            f"{_named(ones)}.",
        )


def subscription_failing(status: SchedulerStatus) -> Iterator[Problem]:
    ones = [one for one in status.relay.subscriptions if (one.failing_seconds or 0.0) > RELAY_PATIENCE_SECONDS]
    ones = [one for one in ones if one.active]
    if ones:
        yield notice(
            said_of(
                "{count:,} subscription is getting nothing: deliveries have been failing for {time}.",
                "{count:,} subscriptions are getting nothing: deliveries have been failing for {time}.",
                len(ones),
                count=len(ones),
                time=span(max(one.failing_seconds or 0.0 for one in ones)),
            ),
            said("They are tried again by themselves; `manage.py outbox` shows what the receivers answer."),
            f"{_named(ones)}.",
        )


def subscription_behind(status: SchedulerStatus) -> Iterator[Problem]:
    """Those that get something, but too slowly; a receiver that is away is told above."""
    ones = [
        one
        for one in status.relay.subscriptions
        if one.active and one.failing_seconds is None and (one.waiting_seconds or 0.0) > RELAY_PATIENCE_SECONDS
    ]
    if ones:
        yield notice(
            said_of(
                "{count:,} subscription is behind: the oldest event has been waiting for {time}.",
                "{count:,} subscriptions are behind: the oldest event has been waiting for {time}.",
                len(ones),
                count=len(ones),
                time=span(max(one.waiting_seconds or 0.0 for one in ones)),
            ),
            said(
                "If no beat delivers, see their logs: look for relay.failed. Else the receiver is too slow for its "
                "events."
            ),
            f"{_named(ones)}.",
        )


def events_missed(status: SchedulerStatus) -> Iterator[Problem]:
    if ones := [one for one in status.relay.subscriptions if one.missed]:
        yield trouble(
            said_of(
                "{count:,} subscription is without events that were dropped before it got them: they were older than "
                'PUNCTUAL["KEEP_OUTBOX_MOST_DAYS"], {days:g} days.',
                "{count:,} subscriptions are without events that were dropped before it got them: they were older than "
                'PUNCTUAL["KEEP_OUTBOX_MOST_DAYS"], {days:g} days.',
                len(ones),
                count=len(ones),
                days=conf().KEEP_OUTBOX_MOST_DAYS,
            ),
            said("Have its receiver compare its data with yours, then resume it, or unsubscribe it."),
            f"{_named(ones)}.",
        )


def somebody_waits(status: SchedulerStatus) -> bool:
    keep = conf().KEEP_OUTBOX_DAYS * 86_400
    return any((one.waiting_seconds or 0.0) > keep for one in status.relay.subscriptions)


def _named(ones: Sequence[SubscriptionView]) -> str:
    told = "; ".join(f"{one.label}: {(one.reason or one.last_error or one.sink).rstrip('.')}" for one in ones[:NAMED])
    return told if len(ones) <= NAMED else f"{told}; and {len(ones) - NAMED} more"


def alarms_not_told(status: SchedulerStatus) -> Iterator[Problem]:
    """A short failure is nothing: it is tried again within seconds."""
    for one in status.failing_channels:
        if one.seconds > CHANNEL_PATIENCE_SECONDS:
            yield notice(
                said(
                    "Nobody gets the alarms of channel {name!r}: nothing could be sent for {time}.",
                    name=one.name,
                    time=span(one.seconds),
                ),
                said("Its page says why, and sends a test alert."),
                error_said(one.error),
            )


def hosts_unwell(status: SchedulerStatus) -> Iterator[Problem]:
    """Whose they are and what they are called is for operators: other tenants read this, too."""
    waiting = [one for one in status.unwell_hosts if one.unwell_seconds > HOST_PATIENCE_SECONDS]
    if not waiting:
        return
    first = waiting[0]
    named = ", ".join(f"{one.host} ({one.tenant})" for one in waiting[:NAMED])
    yield notice(
        said_of(
            "A host has not answered callbacks for {time}: their tasks wait, and use up no retries.",
            "{count} hosts have not answered callbacks for {time}: their tasks wait, and use up no retries.",
            len(waiting),
            count=len(waiting),
            time=span(first.unwell_seconds),
        ),
        said("The page Hosts says which, and has one tried at once."),
        f"{named}: {first.error.rstrip('.')}.",
    )
