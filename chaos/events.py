"""Do events tell what happened? Every committed change has its event, and each was told, in order for its unit."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

SHOWN = 5


class Matched(NamedTuple):
    """One kind of change, by task: how often it happened by what is stored, and how often by the events."""

    stored: Counter
    said: Counter


@dataclass(frozen=True)
class EventEvidence:
    """What is in the database, and what each subscriber has noted, in the order in which it got it."""

    units: Mapping[str, str]  # of each event in the outbox, by its id
    told: Mapping[str, Sequence[str]]  # by subscriber: ids
    changes: Mapping[str, Matched]  # by what has changed, in words


def wrong_events(evidence: EventEvidence) -> Iterator[str]:
    """A sentence for each thing that is not as it should be, a few of each kind."""
    for what, matched in evidence.changes.items():
        yield from _few(_unmatched(what, *matched))
    for name, ids in evidence.told.items():
        yield from _few(f"{name} never got event {one}" for one in sorted(evidence.units.keys() - set(ids)))
        invented = sorted(set(ids) - evidence.units.keys())
        yield from _few(f"{name} got event {one}, which nobody committed" for one in invented)
        yield from _few(_out_of_turn(name, ids, evidence.units))


def _unmatched(what: str, changes: Counter, events: Counter) -> Iterator[str]:
    for task in sorted(changes.keys() | events.keys()):
        if changes[task] != events[task]:
            yield f"task {task} has {changes[task]} times a {what} and {events[task]} events that say so"


def _out_of_turn(name: str, ids: Sequence[str], units: Mapping[str, str]) -> Iterator[str]:
    """First tellings only: what comes again may come late."""
    seen: set[str] = set()
    last: dict[str, tuple[int, str]] = defaultdict(lambda: (0, ""))
    for one in ids:
        if one in seen or one not in units:
            continue
        seen.add(one)
        row, before = int(one.partition("-")[0]), last[units[one]]
        if row < before[0]:
            yield f"{name} got event {one} of {units[one]} after {before[1]}"
        last[units[one]] = max(before, (row, one))


def _few(sentences: Iterator[str]) -> Iterator[str]:
    found = list(sentences)
    yield from found[:SHOWN]
    if len(found) > SHOWN:
        yield f"and {len(found) - SHOWN} more like that"
