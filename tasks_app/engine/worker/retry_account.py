"""The retry budgets' account of all workers, in Redis: a burst is one burst, however many processes there are.

One call for a batch that has something to retry. What else has run is told at most once a second: it only makes room.
If Redis loses the account, budgets begin full; while it is away, each process counts for itself.
"""

import threading
import time
from collections import Counter
from collections.abc import Mapping

from tasks_app.conf import conf
from tasks_app.core.retry_budget import LONGEST_WAIT_SECONDS, PACE_SECONDS, REFILL_SECONDS, Level, RetryBudget
from tasks_app.engine.shared import Shared
from tasks_app.lifecycle.retry_budget import Charge, Name

TELL_SECONDS = 1.0
KEY = "retries:"  # and the kind and the name of the budget

# Bucket.charge of core/retry_budget.py, for several budgets at once, by the clock of Redis.
_CHARGE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local pace, refill, keep = ARGV[1], ARGV[2], ARGV[3]
local levels = {}
for i = 1, #KEYS do
    local share, burst, attempts, retries = unpack(ARGV, i * 4, i * 4 + 3)
    local kept = redis.call('HMGET', KEYS[i], 'permits', 'attempts', 'at')
    local passed = math.max(now - (kept[3] or now), 0)
    local lately = (kept[2] or 0) * math.exp(-passed / pace) + attempts
    local permits = math.min((kept[1] or burst) + passed * burst / refill + share * attempts, burst)
    levels[i * 2 - 1] = string.format('%.9g', permits)
    levels[i * 2] = string.format('%.9g', burst / refill + share * lately / pace)
    redis.call('HSET', KEYS[i], 'permits', string.format('%.9g', permits - retries),
               'attempts', string.format('%.9g', lately), 'at', string.format('%.6f', now))
    redis.call('EXPIRE', KEYS[i], keep)
end
return levels
"""


class SharedAccount:
    """What lifecycle.retry_budget charges."""

    def __init__(self) -> None:
        self._shared = Shared("retry_budget")
        self._lock = threading.Lock()
        self._untold: Counter[Name] = Counter()  # attempts
        self._budgets: dict[Name, RetryBudget] = {}  # of these
        self._tell_at = 0.0

    def __call__(self, charges: Mapping[Name, Charge]) -> dict[Name, Level] | None:
        with self._lock:
            self._untold.update({name: one.attempts for name, one in charges.items()})
            self._budgets |= {name: one.budget for name, one in charges.items()}
            retries = {name: one.retries for name, one in charges.items() if one.retries}
            if not retries and time.monotonic() < self._tell_at:
                return {}
            told, self._untold = self._untold, Counter()
            budgets, self._budgets = self._budgets, {}
            self._tell_at = time.monotonic() + TELL_SECONDS
        return self._charge(budgets, told, retries)

    def _charge(
        self, budgets: Mapping[Name, RetryBudget], attempts: Mapping[Name, int], retries: Mapping[Name, int]
    ) -> dict[Name, Level] | None:
        words: list[object] = [PACE_SECONDS, REFILL_SECONDS, int(2 * LONGEST_WAIT_SECONDS)]
        for name, budget in budgets.items():
            words += [budget.share, budget.burst, attempts[name], retries.get(name, 0)]
        keys = [conf().redis_key(f"{KEY}{kind}:{of}") for kind, of in budgets]
        found = self._shared(_CHARGE, keys, words)
        if found is None:
            return None
        figures = [float(one) for one in found]
        pairs = zip(budgets.items(), figures[::2], figures[1::2], strict=True)
        return {name: _sane(budget, permits, flow) for (name, budget), permits, flow in pairs}


def _sane(budget: RetryBudget, permits: float, flow: float) -> Level:
    """Whoever can write to Redis can write anything there, such as `nan`, which is neither more nor less than a number:
    then it is as if the budget were full."""
    return Level(min(float(budget.burst), permits), max(budget.burst / REFILL_SECONDS, flow))
