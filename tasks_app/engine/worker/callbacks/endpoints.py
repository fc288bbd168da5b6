"""How many calls an endpoint gets at the same time in this process, and which share of all connections.

The number adapts to each endpoint: one more for an answer, half for a failure. Shares are kept free whatever happens:
an endpoint that never answers leaves connections to the others, and a new one finds a connection to show what it does.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Iterable
from enum import Enum

from tasks_app.conf import conf
from tasks_app.lifecycle.hosts import Called

FIRST = 2.0  # calls at the same time, before the first answer
QUICK_SECONDS, SLOW_SECONDS = 0.25, 2.0  # a call to a quick endpoint takes less, one to a slow endpoint more
FIRST_SECONDS = 0.5  # an endpoint is slow if its first call takes longer
OF_ENDPOINT, OF_TENANT = 3 / 4, 7 / 8  # of all connections
OF_NEW, OF_SLOW, OF_NOT_QUICK = 1 / 4, 1 / 4, 1 / 2
_NEWEST = 0.2  # weight of the last call in the mean
REMEMBERED = 1_000  # endpoints


class Speed(Enum):
    NEW = "new"  # nothing has come back yet
    QUICK = "quick"
    STEADY = "steady"
    SLOW = "slow"


class Endpoint:
    """One host as one tenant calls it. Only read and written under the lock of the switchboard."""

    def __init__(self, called: Called) -> None:
        self.called = called
        self.limit = FIRST
        self.seconds: float | None = None  # that a call takes, on average
        self.calls: dict[object, float] = {}  # in progress, and since when; the oldest first
        self.speed = Speed.NEW  # as it was when a call began or ended last, or at the last refresh
        self.waiting = 0  # tasks, in all open batches
        self.has_failed = False
        self._full_at = 0.0  # when it had as many calls as it may last
        self._halved_at = 0.0
        self._booked_until = 0.0

    def usual_seconds(self) -> float:
        """The typical duration of a call; at least the age of the oldest call in progress."""
        usual = FIRST_SECONDS if self.seconds is None else max(self.seconds, 0.001)
        return max(usual, time.monotonic() - next(iter(self.calls.values()))) if self.calls else usual

    def begin(self, call: object) -> None:
        now = self.calls[call] = time.monotonic()
        if len(self.calls) >= int(self.limit):
            self._full_at = now

    def end(self, call: object, *, failed: bool) -> None:
        began, now = self.calls.pop(call), time.monotonic()
        took = now - began
        self.seconds = took if self.seconds is None else self.seconds + _NEWEST * (took - self.seconds)
        if not failed:
            if began <= self._full_at:
                self.limit += 1 / self.limit if self.has_failed else 1
        elif began >= self._halved_at:  # later failures of calls begun before say nothing new
            self.limit, self._halved_at, self.has_failed = max(1.0, self.limit / 2), now, True

    def note_speed(self) -> None:
        seconds = self.usual_seconds()
        if self.seconds is None:
            self.speed = Speed.SLOW if seconds > FIRST_SECONDS else Speed.NEW
        elif seconds > SLOW_SECONDS:
            self.speed = Speed.SLOW
        else:
            self.speed = Speed.STEADY if seconds > QUICK_SECONDS else Speed.QUICK

    def book(self, rate: float, after: float) -> float:
        """Seconds until the next of the tasks that are sent back can begin at so many a second. The first of them
        after so many seconds, the others one after the other."""
        now = time.monotonic()
        self._booked_until = max(self._booked_until, now + after) + 1 / rate
        return self._booked_until - now

    def note_idle(self) -> None:
        """All that came has begun: what comes next needs no booking."""
        self._booked_until = 0.0


class Connections:
    """How many of this process's connections each host, tenant and speed class uses."""

    def __init__(self) -> None:
        self.calls = 0
        self._hosts: Counter[str] = Counter()
        self._tenants: Counter[str] = Counter()
        self._speeds: Counter[Speed] = Counter()
        self._active: set[Endpoint] = set()

    def begin(self, one: Endpoint, call: object) -> None:
        self._count(one, -1)
        one.begin(call)
        one.note_speed()
        self._count(one, 1)
        self._active.add(one)

    def end(self, one: Endpoint, call: object, *, failed: bool) -> None:
        self._count(one, -1)
        one.end(call, failed=failed)
        one.note_speed()
        self._count(one, 1)
        if not one.calls:
            self._active.discard(one)

    def refresh(self) -> None:
        """Endpoints become slow while they don't answer."""
        for one in self._active:
            self._count(one, -1)
            one.note_speed()
            self._count(one, 1)

    @property
    def free(self) -> bool:
        return self.calls < conf().CALLBACK_CONNECTIONS

    def of_tenant(self, tenant: str) -> int:
        return self._tenants[tenant]

    def has_tenant_room(self, tenant: str) -> bool:
        return self._tenants[tenant] < _part(OF_TENANT)

    def has_room(self, one: Endpoint) -> bool:
        """Whether another call may begin, if a connection is free."""
        if len(one.calls) >= int(one.limit) or self._hosts[one.called.host] >= _part(OF_ENDPOINT):
            return False
        return one.speed is Speed.QUICK or self._left(one.speed) > 0

    def rate(self, one: Endpoint) -> float:
        """Calls that can begin in a second, about. A limit that was never halved grows as far as it may within a few
        calls."""
        most = float(_part(OF_ENDPOINT))
        if one.speed is not Speed.QUICK:
            mine = self._left(one.speed) + self._speeds[one.speed]
            alike = sum(other.speed is one.speed for other in self._active)
            most = min(most, max(1.0, mine / max(1, alike)))
        return (min(most, one.limit) if one.has_failed else most) / one.usual_seconds()

    def seconds_of(self, waiting: Iterable[Endpoint]) -> float:
        """Until all that wait for quick endpoints have begun, about. The others wait for their own, and for nothing
        that the next batch may bring."""
        work = sum(one.waiting * one.usual_seconds() for one in waiting if one.speed is Speed.QUICK)
        return work / max(1, conf().CALLBACK_CONNECTIONS - self._speeds[Speed.STEADY] - self._speeds[Speed.SLOW])

    def _left(self, speed: Speed) -> int:
        """Connections that calls of this speed may still have."""
        left = _part(OF_NOT_QUICK) - self._speeds[Speed.STEADY] - self._speeds[Speed.SLOW]
        if speed is Speed.NEW:
            # New endpoints that hang count as slow after a while. However many there are, quick calls keep the rest.
            return min(_part(OF_NEW), left + _part(OF_NEW)) - self._speeds[speed]
        return left if speed is Speed.STEADY else min(left, _part(OF_SLOW) - self._speeds[speed])

    def _count(self, one: Endpoint, sign: int) -> None:
        number = sign * len(one.calls)
        self.calls += number
        self._speeds[one.speed] += number
        for counts, name in ((self._hosts, one.called.host), (self._tenants, one.called.tenant)):
            counts[name] += number
            if not counts[name]:
                del counts[name]


def _part(part: float) -> int:
    return max(1, int(conf().CALLBACK_CONNECTIONS * part))


_known: OrderedDict[Called, Endpoint] = OrderedDict()


def endpoint_of(called: Called) -> Endpoint:
    """This process's record of an endpoint. The least recently used one is evicted first."""
    found = _known.setdefault(called, Endpoint(called))
    _known.move_to_end(called)
    if len(_known) > REMEMBERED:
        oldest = next(iter(_known))
        if not (_known[oldest].calls or _known[oldest].waiting):
            del _known[oldest]
        else:
            _known.move_to_end(oldest)
    return found
