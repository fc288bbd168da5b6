"""The hosts that callbacks go to: what one may be asked for at most, and when it is unwell."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import InvalidTask, shown
from .receivers import PORTS, Receiver, receiver_of

HOST_LENGTH = 260
MOST_RUNNING = 10_000
LOWEST_RATE, HIGHEST_RATE = 0.001, 100_000.0  # calls a second

HOST_LIMIT, HOST_UNWELL = "HOST_LIMIT", "HOST_UNWELL"  # the codes of what waits for one

LONGEST_TRY_SECONDS = 25.0  # between two tries of a host that is unwell: it is found well again within 30 s
LONGEST_WAIT_SECONDS = 300.0  # until what waits for a limit asks again
MOST_ASKING = 500.0  # tasks a second that ask again for a host that is unwell, about: each is claimed and sent back
ASKING = 20  # of those that wait for a host ask again when it is tried; the others follow when one gets an answer ...
FOLLOW_SECONDS = 120.0  # ... or ask after this time and as much again, should that go unnoticed
USUAL_CALL_SECONDS = 0.25  # about how long a call takes: what waits for a place of another asks after that


@dataclass(frozen=True, slots=True)
class HostLimit:
    max_running: int | None  # calls at the same time, over all workers
    rate: float | None  # calls a second
    burst: float | None  # that may begin at once after a pause


def host_of(receiver: Receiver) -> str:
    """By which it is limited and judged: with its port, unless that is the usual one of https."""
    host = f"[{receiver.host}]" if ":" in receiver.host else receiver.host
    return host if receiver.port == PORTS["https"] else f"{host}:{receiver.port}"


def checked_host_name(text: object) -> str:
    """What somebody typed, as host_of writes it. Raises InvalidTask."""
    if not isinstance(text, str) or not text or len(text) > HOST_LENGTH or "/" in text:
        raise InvalidTask(f"host={shown(text)} must be a host, such as 'api.example.com' or 'api.example.com:8443'.")
    return host_of(receiver_of(f"https://{text}/"))


def checked_limit(max_running: object, rate: object, burst: object) -> HostLimit:
    """Raises InvalidTask. Without a burst, it is what flows in within a second."""
    if max_running is None and rate is None:
        raise InvalidTask("neither max_running nor rate was given. Give one; to lift a limit, delete it.")
    if max_running is not None and (
        isinstance(max_running, bool) or not isinstance(max_running, int) or not 1 <= max_running <= MOST_RUNNING
    ):
        raise InvalidTask(f"max_running={shown(max_running)} must be a whole number from 1 to {MOST_RUNNING:,}.")
    if rate is not None and (
        isinstance(rate, bool) or not isinstance(rate, int | float) or not LOWEST_RATE <= rate <= HIGHEST_RATE
    ):
        raise InvalidTask(f"rate={shown(rate)} must be from {LOWEST_RATE:g} to {HIGHEST_RATE:,.0f} calls a second.")
    if burst is not None and rate is None:
        raise InvalidTask(f"burst={shown(burst)} has no rate to go with. Give rate, or leave it out.")
    if burst is not None and (isinstance(burst, bool) or not isinstance(burst, int | float) or not 1 <= burst <= 1e6):
        raise InvalidTask(f"burst={shown(burst)} must be from 1 to 1,000,000 calls.")
    if rate is not None and burst is None:
        burst = max(1.0, float(rate))
    return HostLimit(max_running, None if rate is None else float(rate), None if burst is None else float(burst))


def shared_out(number: int, wanted: Sequence[int]) -> list[int]:
    """So many places or permits, one each in turn, beginning with anyone: nobody waits for all that others want."""
    shares, left = [0] * len(wanted), min(number, sum(wanted))
    turn = random.randrange(len(wanted)) if wanted else 0
    while left > 0:
        if shares[turn] < wanted[turn]:
            shares[turn], left = shares[turn] + 1, left - 1
        turn = (turn + 1) % len(wanted)
    return shares


def until_place(place: int, max_running: int) -> float:
    """Seconds after which the one in this place of the line asks again for one of so many places: spread out."""
    expected = USUAL_CALL_SECONDS * (1 + place / max_running)
    return min(LONGEST_WAIT_SECONDS, max(1.0, expected)) * random.uniform(0.75, 1.25)


def until_permit(place: int, filled: float, rate: float) -> float:
    """Seconds after which there should be a permit for the one in this place of the line, if nobody else asks."""
    return min(LONGEST_WAIT_SECONDS, max(0.05, (place + 1 - filled) / rate)) * random.uniform(1.0, 1.1)


def until_booked(seconds: float) -> float:
    """Seconds after which a task asks again for which an endpoint should have room in so many."""
    return min(LONGEST_WAIT_SECONDS, max(1.0, seconds)) * random.uniform(0.9, 1.1)


def until_well(seconds: float, place: int, crowd: int) -> float:
    """Seconds after which the one in this place of the line asks again for a host that is tried in so many: a little
    later than the try, and not all at once. `crowd`: about as many wait for it in all."""
    return max(0.0, seconds) + 1.0 + random.uniform(0.0, _spread(place, crowd))


def until_tried(seconds: float, asking: int, crowd: int) -> float:
    """Seconds until a task is due again whose host is tried in `seconds`, when `asking` others are due then, too."""
    if asking < ASKING:
        return max(0.0, seconds) + 1.0 + random.uniform(0.0, 1.0)
    longest = FOLLOW_SECONDS + crowd / MOST_ASKING
    return max(0.0, seconds) + FOLLOW_SECONDS + random.uniform(0.0, longest)


def behind_others(seconds: float) -> float:
    """Seconds until the task whose try failed is due again: after those that ask for the next try."""
    return max(0.0, seconds) + 3.0


def _spread(place: int, crowd: int) -> float:
    return max(min(30.0, 1.0 + place / 20), crowd / MOST_ASKING)


def try_after(tries: int, first_seconds: float) -> float:
    """Seconds from the failure of one try to the next."""
    return min(max(first_seconds, LONGEST_TRY_SECONDS), first_seconds * 2.0 ** min(tries, 10))
