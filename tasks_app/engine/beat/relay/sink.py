"""What a sink is: the way to one kind of receiver. The relay reads, keeps order and retries; a sink only delivers."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol
from zlib import crc32

if TYPE_CHECKING:
    from tasks_app.core.events import Event

ANSWER_LENGTH = 500  # of what is kept of an answer


class Attempt(NamedTuple):
    """One call to a receiver, and what became of it."""

    events: Sequence["Event"]  # that it carried
    ok: bool  # the receiver has them
    status: str = ""  # as the receiver says it, such as "200"; the name of an error if there was no answer
    ms: float = 0.0
    answer: str = ""  # how its answer began, or what went wrong
    retry_after: float | None = None  # seconds, if the receiver asked for a pause
    gone: bool = False  # it will never take anything again: the subscription is suspended at once


class Sink(Protocol):
    """Made for one subscription by the thread that delivers it, and used by that thread alone."""

    def deliver(self, events: Sequence["Event"]) -> Iterable[Attempt]:
        """Take these events to the receiver; one Attempt for each call.

        What is in no attempt that is ok comes again later, with the same ids. The events of a unit are in order, and
        must arrive in order: after a failed one, nothing later of its unit may be delivered. Different units may go at
        the same time (`lanes`). An exception counts as a failed attempt with all that no attempt before it has taken.
        """
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def lanes(events: Iterable["Event"], number: int) -> list[list["Event"]]:
    """The same events in several lists that may be delivered at the same time: all events of a unit are in one of them,
    in order. What has no unit is kept together by its type."""
    spread: list[list[Event]] = [[] for _ in range(number)]
    for event in events:
        unit = event.unit or (event.tenant, event.task_type or "", event.type)
        spread[crc32("\0".join(unit).encode()) % number].append(event)
    return [one for one in spread if one]
