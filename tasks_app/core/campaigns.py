"""Campaigns: their states, and how many tasks one step takes at a rate."""

from enum import StrEnum

from .errors import InvalidTask

CAP = 5_000  # tasks of one campaign, unless it is told otherwise
MOST = 1_000_000  # tasks of one campaign, whatever it is told
CHUNK = 500  # tasks in one step, at most: one transaction
RATES = (0.01, 10_000.0)  # tasks a second
MOST_RUNNING = 10_000  # tasks that may be told to be under way at once, at most
UNDO = "undo"  # the kind of one that puts back what another order has moved or cancelled
# Somebody who acts on more tasks than this on a page types how many they are: it is two pages of the list, more than
# anybody has looked at one by one.
CONFIRM_ABOVE = 100
STEP_SECONDS = 0.2  # how much of its rate one step takes at once
SLACK_SECONDS = 3.0  # how much of its rate it may make up for after a delay


class CampaignState(StrEnum):
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    CANCELLED = "CANCELLED"
    DONE = "DONE"

    @property
    def over(self) -> bool:
        return self in (CampaignState.CANCELLED, CampaignState.DONE)


def step_size(rate: float | None) -> int:
    """Tasks in one step: few at a low rate, so that they come evenly."""
    return CHUNK if rate is None else max(1, min(CHUNK, int(rate * STEP_SECONDS)))


def checked_cap(cap: object) -> int:
    if isinstance(cap, bool) or not isinstance(cap, int) or not 1 <= cap <= MOST:
        raise InvalidTask(f"cap={cap!r}: a campaign takes between 1 and {MOST:,} tasks.")
    return cap


def checked_most_running(number: object) -> int | None:
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST_RUNNING:
        raise InvalidTask(
            f"most_running={number!r}: between 1 and {MOST_RUNNING:,} tasks may be under way at once. "
            "Leave it out for no limit."
        )
    return number


def checked_rate(rate: object) -> float | None:
    if rate is None:
        return None
    lowest, highest = RATES
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not lowest <= rate <= highest:
        raise InvalidTask(
            f"rate={rate!r}: a rate is between {lowest:g} and {highest:,.0f} tasks a second. Leave it out for no limit."
        )
    return float(rate)
