"""How many beats and worker slots there should be by what was busy and late: for whoever starts and stops them."""

from dataclasses import dataclass
from math import ceil

from tasks_app.conf import conf
from tasks_app.sql import run

BUSY = 0.7  # of the slots: with more, what comes at once has to wait
IDLE = 0.4  # with less, there are too many
MORE = 1.5  # times as many, while tasks start late


@dataclass(frozen=True, slots=True)
class Wanted:
    dispatchers: int
    slots: int
    live_dispatchers: int
    live_slots: int
    busy_slots: float  # on average, of the last minutes
    late: bool  # tasks start late


def read_wanted() -> Wanted:
    """In one small statement."""
    lease = max(conf().SHARD_LEASE_SECONDS, conf().NODE_TTL_SECONDS)
    return wanted(*run("wanted", {"node_ttl": conf().NODE_TTL_SECONDS, "lease": lease})[0])


def wanted(slots: int, dispatchers: int, busy: float, late: bool) -> Wanted:
    """More slots if they are busy, or tasks start late; fewer only if most are idle. Another beat if tasks start late
    though slots are idle: then it is not the workers that they wait for."""
    needed = max(1, ceil(busy / BUSY))
    enough = slots if needed < slots and busy >= IDLE * slots else needed
    if late:
        enough = max(enough, slots + 1, ceil(MORE * slots))
    beats = dispatchers + (slots > 0 and busy < IDLE * slots) if late else 1
    return Wanted(max(1, beats), enough, dispatchers, slots, busy, late)
