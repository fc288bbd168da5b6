"""Shedding as plain Python: what a web process refuses while its database is slow, and when it takes it back."""

from dataclasses import dataclass
from enum import IntEnum

WORSE_AFTER = 2  # knocks in a row, before more is refused: one may have met a checkpoint
BETTER_AFTER = 3  # and before less is; a step at a time
CALM = 0.6  # times and requests below so much of their limits are calm
CALM_SHARE = 0.05  # and connections, so much of all below theirs
HANGING = 4  # times SHED_MS: then writes are refused, too, and a request counts as stuck


class Level(IntEnum):
    """What is refused, from nothing to all that can wait."""

    OPEN = 0
    READS = 1
    WRITES = 2  # reads too


class Kind(IntEnum):
    """What a request is: the level from which on it is refused."""

    READ = Level.READS
    WRITE = Level.WRITES
    NEVER = 9  # health, and what must not wait: a report about a run, the lever that takes load away


@dataclass(frozen=True, slots=True)
class Limits:
    ms: float  # 0: nothing is ever refused
    connections: float  # the share of them that may be in use
    in_flight: int  # stuck requests of one process; 0: any number


@dataclass(frozen=True, slots=True)
class Knock:
    """What came of one look at the database: how long a connection and a small statement took together."""

    ms: float
    used: float = 0.0  # the share of the connections that are in use
    reached: bool = True


@dataclass(frozen=True, slots=True)
class Strain:
    """The last knock, and how many requests of this process are stuck."""

    knock: Knock
    stuck: int = 0

    def level(self, limits: Limits, *, calm: bool = False) -> Level:
        """What it asks for; `calm`, by lower limits, below which less may be refused again."""
        factor, less = (CALM, CALM_SHARE) if calm else (1.0, 0.0)
        ms, used = limits.ms * factor, self.knock.used + less
        if not self.knock.reached or self.knock.ms >= HANGING * ms or used >= (limits.connections + 1) / 2:
            return Level.WRITES
        crowded = bool(limits.in_flight) and self.stuck >= limits.in_flight * factor
        return Level.READS if self.knock.ms >= ms or used >= limits.connections or crowded else Level.OPEN


class Gauge:
    """Keeps the level: up after some bad knocks, down after more good ones, and never for a value in between."""

    def __init__(self) -> None:
        self.level = Level.OPEN
        self._worse = self._better = 0

    def feed(self, strain: Strain, limits: Limits) -> Level:
        if not limits.ms:
            self.reset()
            return self.level
        wanted = strain.level(limits)
        if wanted > self.level:
            self._worse, self._better = self._worse + 1, 0
            if self._worse >= WORSE_AFTER:
                self.level, self._worse = wanted, 0
        elif strain.level(limits, calm=True) < self.level:
            self._worse, self._better = 0, self._better + 1
            if self._better >= BETTER_AFTER:
                self.level, self._better = Level(self.level - 1), 0
        else:
            self._worse = self._better = 0
        return self.level

    def reset(self) -> None:
        self.level, self._worse, self._better = Level.OPEN, 0, 0
