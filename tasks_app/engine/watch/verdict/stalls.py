"""Rules about beats that hung."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tasks_app.core.said import said, said_of

from .problem import NAMED, Problem, notice, span, trouble

if TYPE_CHECKING:
    from ..stall_status import StallView
    from ..status import SchedulerStatus


def items_skipped(status: SchedulerStatus) -> Iterator[Problem]:
    """Only operators see the names of the items."""
    if skipped := [one for one in status.stalls if one.skipped]:
        yield trouble(
            said_of(
                "Beats skip {count:,} item, since two beats hung on it.",
                "Beats skip {count:,} items, since two beats hung on each of them.",
                len(skipped),
                count=len(skipped),
            ),
            said(
                "Everything else is processed. Change the item, which releases it, or repair the cause and run "
                "`manage.py stalls release`; `manage.py stalls list` shows where the beats hung."
            ),
            _named(skipped),
        )


def beats_stalled(status: SchedulerStatus) -> Iterator[Problem]:
    """Once is a notice. A part of the beat can't be skipped, so the next beat may hang on it again."""
    hung = [one for one in status.stalls if not one.skipped]
    if hung:
        again = any(one.is_part and one.ends > 1 for one in hung)
        yield (trouble if again else notice)(
            said("A beat hung and was ended {time} ago.", time=span(min(one.seconds for one in hung))),
            said("`manage.py stalls list` shows on what, and where. Beats skip an item after the second time."),
            _named(hung),
        )


def _named(stalls: Sequence[StallView]) -> str:
    more = f" and {len(stalls) - NAMED} more" if len(stalls) > NAMED else ""
    return ", ".join(str(one) for one in stalls[:NAMED]) + more + "."
