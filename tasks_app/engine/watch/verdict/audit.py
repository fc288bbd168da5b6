"""Rules about the trail of who did what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks_app.conf import conf
from tasks_app.core.said import said, said_of

from .problem import Problem, notice, span, trouble

if TYPE_CHECKING:
    from ..status import SchedulerStatus

AUDIT_PATIENCE_SECONDS = 300.0  # an entry may wait for its place for so long
AUDIT_MISSED_SECONDS = 86_400.0  # that one was deleted is trouble for so long
ANCHOR_PATIENCE_SECONDS = 600.0  # a place for anchors may fail for so long


def audit_unchained(status: SchedulerStatus) -> Iterator[Problem]:
    waiting = status.audit.unchained_seconds
    if waiting is not None and waiting > AUDIT_PATIENCE_SECONDS:
        yield trouble(
            said(
                "The audit trail isn't being chained: an entry has been waiting for its place for {time}.",
                time=span(waiting),
            ),
            said("If a beat is alive, its log says why: look for the chore `chain`."),
        )


def audit_entries_missing(status: SchedulerStatus) -> Iterator[Problem]:
    """For a day somebody should be woken up for it; then it is known."""
    seen = status.audit
    if seen.missing:
        yield (trouble if (seen.missing_seconds or 0.0) < AUDIT_MISSED_SECONDS else notice)(
            said_of(
                "An audit entry was deleted before having a place in the trail.",
                "{count:,} audit entries were deleted before having a place in the trail.",
                seen.missing,
                count=seen.missing,
            ),
            said("Only somebody with rights to the tables can do that: `manage.py audit verify` names the entries."),
        )


def audit_trail_broken(status: SchedulerStatus) -> Iterator[Problem]:
    """Only operators see which tenants."""
    broken = status.audit.broken
    if broken:
        yield trouble(
            said_of(
                "The audit trail of a tenant is broken: its new entries get no place.",
                "The audit trails of {count} tenants are broken: their new entries get no place.",
                len(broken),
                count=len(broken),
            ),
            said(
                "A change made directly in its tables is the cause. All other trails are chained and anchored. "
                "`manage.py audit verify` says what is wrong; `manage.py punctual_help audit` says how to repair it."
            ),
            ", ".join(tenant or "what all tenants share" for tenant in broken) + ".",
        )


def audit_not_anchored(status: SchedulerStatus) -> Iterator[Problem]:
    """Which places they are is for operators."""
    seen = status.audit
    if not seen.anchored:
        return
    age = seen.anchor_seconds or 0.0
    if age > 2 * conf().AUDIT_ANCHOR_SECONDS + AUDIT_PATIENCE_SECONDS:
        yield trouble(
            said("The audit trail has not been anchored for {time}.", time=span(age)),
            said(
                "The chore `anchor` does it; its beat's log says why it can't. `manage.py audit anchor` makes one now."
            ),
        )
    failing = [one for one in seen.places if (one.failing_seconds or 0.0) > ANCHOR_PATIENCE_SECONDS]
    if failing:
        yield trouble(
            said_of(
                "A place for anchors of the audit trail could not be written to for {time}.",
                "{count} places for anchors of the audit trail could not be written to for {time}.",
                len(failing),
                count=len(failing),
                time=span(max(one.failing_seconds or 0.0 for one in failing)),
            ),
            said("What is missing there is sent as soon as it can be reached; `manage.py audit anchor` tries at once."),
            "; ".join(f"{one.place}: {one.error.rstrip('.')}" for one in failing) + ".",
        )
