"""Retry budgets: which share of all attempts may be retries, and what that makes a retry wait."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp
from typing import Any, NamedTuple

from .errors import InvalidTask, nearest, shown

REFILL_SECONDS = 60.0  # in which an empty bucket fills up by itself, however little runs
PACE_SECONDS = 10.0  # over which attempts are counted for the pace of what flows in
LONGEST_WAIT_SECONDS = 3600.0
MOST_BURST = 1_000_000
DEFAULT_BURST = 100
ALL, TENANTS, TYPES = "all", "tenants", "types"


@dataclass(frozen=True, slots=True)
class RetryBudget:
    share: float  # of all attempts: retries, at most
    burst: int = DEFAULT_BURST  # retries that may come at once; as many a minute always may


class Level(NamedTuple):
    """What a budget had when some retries came, and what flows in from then on."""

    permits: float  # below 0: so many retries wait for theirs
    flow: float  # permits a second

    def wait(self, place: int) -> float:
        """The seconds that the first, second ... of these retries has to wait, 0 within the budget."""
        return min(max(place - self.permits, 0.0) / self.flow, LONGEST_WAIT_SECONDS)


class Bucket:
    """One budget as a bucket of permits. A retry takes one; if there is none, it takes the next that flows in, and is
    told how long that will be. So what is over the budget is spread out evenly instead of asking again and again."""

    def __init__(self, budget: RetryBudget, now: float) -> None:
        self.budget = budget
        self._permits = float(budget.burst)
        self._attempts = 0.0  # of late, the older the less
        self._at = now

    def charge(self, attempts: int, retries: int, now: float) -> Level:
        """So many tries have ended, whatever became of them, and so many of these are to be retried."""
        passed, self._at = max(now - self._at, 0.0), now
        self._attempts = self._attempts * exp(-passed / PACE_SECONDS) + attempts
        flowed_in = passed * self.budget.burst / REFILL_SECONDS + self.budget.share * attempts
        self._permits = min(self._permits + flowed_in, float(self.budget.burst))
        flow = self.budget.burst / REFILL_SECONDS + self.budget.share * self._attempts / PACE_SECONDS
        level = Level(self._permits, flow)
        self._permits -= retries
        return level


def budgets_of(given: Mapping[str, Any]) -> dict[tuple[str, str], RetryBudget]:
    """PUNCTUAL["RETRY_BUDGETS"], checked before, by kind and name; that of the installation is (ALL, "")."""
    found = {(ALL, ""): RetryBudget(**given[ALL])} if ALL in given else {}
    for kind in (TENANTS, TYPES):
        found |= {(kind, name): RetryBudget(**one) for name, one in given.get(kind, {}).items()}
    return found


def problems_of(given: Mapping[Any, object]) -> Iterator[str]:
    """A sentence for each thing that is wrong with PUNCTUAL["RETRY_BUDGETS"]."""
    where = 'PUNCTUAL["RETRY_BUDGETS"]'
    for kind, value in given.items():
        if kind not in (ALL, TENANTS, TYPES):
            yield (
                f"{where} has {shown(kind)}; it has 'all' for the whole installation, 'tenants' and 'types'."
                f"{nearest(str(kind), (ALL, TENANTS, TYPES))}"
            )
        elif kind == ALL:
            yield from _wrong_budget(f'{where}["all"]', value)
        elif not isinstance(value, Mapping):
            yield f'{where}["{kind}"] is {shown(value)}; it must be a dict, such as {{"NAME": {{"share": 0.2}}}}.'
        else:
            for name, one in value.items():
                if not isinstance(name, str) or not name:
                    yield f'{where}["{kind}"] has {shown(name)}, which is no name.'
                yield from _wrong_budget(f'{where}["{kind}"][{shown(name)}]', one)


def checked_budget(name: str, value: object) -> None:
    """`retry_share` or `retry_burst` of a tenant; InvalidTask if it won't do."""
    given = {"share": value} if name == "retry_share" else {"share": 0.0, "burst": value}
    for problem in _wrong_budget(f"{name}={shown(value)}", given):
        raise InvalidTask(f"{name}={shown(value)} won't do: {problem.partition('; ')[2]}")


def _wrong_budget(where: str, value: object) -> Iterator[str]:
    if not isinstance(value, Mapping) or "share" not in value or set(value) - {"share", "burst"}:
        yield f'{where} is {shown(value)}; give {{"share": 0.2, "burst": 100}}, of which burst may be left out.'
        return
    share, burst = value["share"], value.get("burst", DEFAULT_BURST)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
        yield f'{where}["share"] is {shown(share)}; it must be 0 or more and less than 1: of all attempts, the retries.'
    if isinstance(burst, bool) or not isinstance(burst, int) or not 1 <= burst <= MOST_BURST:
        yield f'{where}["burst"] is {shown(burst)}; it must be a whole number from 1 to {MOST_BURST:,}.'
