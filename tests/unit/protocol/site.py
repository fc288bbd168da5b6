"""Two sites, as a search of its own: at no moment do both start tasks, and one of them always can in the end.

Site a is the active one and has claimed the task; site b stands by. Each has a beat and a worker. A start has three
moments: what it sees, the lock of the batch, and its commit. Operators choose b, a, or nobody, twice in all; a
beat of b may decide that a is silent. Who has chosen opens the site, or dies. The lease of a batch may run out at any
time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

SITES = ("a", "b")
DUE, CLAIMED, RUNS, DONE = "due", "claimed", "runs", "done"

BOTH = "a site started a task while another one was open"
TWICE = "a task was settled by a site that had lost it"
CLOSED = "a site was chosen, and nobody opens it"
ROBBED = "a site was taken over although its beats were there"
OVERRULED = "a site was opened that was not the last to be chosen"


@dataclass(frozen=True, slots=True)
class SiteRules:
    claim_asks_for_the_site: bool = True
    start_asks_for_the_site: bool = True
    opening_awaits_what_is_in_flight: bool = True
    opening_asks_for_the_epoch: bool = True
    beats_open_what_was_chosen: bool = True
    takeover_asks_again: bool = True
    settle_asks_for_the_batch: bool = True
    opening_returns_what_was_not_started: bool = True


class Flight(NamedTuple):
    """A start of a worker, or an opening, between what it saw and its commit."""

    site: str = ""
    batch: int = 0
    locked: bool = False


class World(NamedTuple):
    task: str = CLAIMED
    batch: int = 1  # the last that was made
    holder: str = "a"  # the site whose message it is, or that runs it
    active: str = "a"  # "": none
    chosen: str = ""
    epoch: int = 0
    starts: tuple[Flight, Flight] = (Flight(), Flight())  # of the workers of a and b
    opening: Flight = Flight()  # its batch is the epoch that it is about
    thinks: bool = False  # a beat of b has seen a silent, and is about to choose
    silent: bool = False  # the beats of a
    runs: tuple[int, int] = (0, 0)  # the batch that each site's worker has in its hands
    orders: int = 2
    broken: str = ""


Moves = Iterator[tuple[str, World]]


def moves(now: World, rules: SiteRules) -> Moves:
    for number, site in enumerate(SITES):
        yield from _beat(now, rules, site)
        yield from _worker(now, rules, number, site)
    yield from _opening(now, rules)
    yield from _choices(now, rules)
    if now.task in (CLAIMED, RUNS) and not any(flight.locked for flight in now.starts):
        yield "its lease runs out", now._replace(task=DUE, holder="")


def _beat(now: World, rules: SiteRules, site: str) -> Moves:
    if now.task == DUE and now.batch < 3 and (now.active == site or not rules.claim_asks_for_the_site):
        yield f"{site} claims", now._replace(task=CLAIMED, batch=now.batch + 1, holder=site)


def _worker(now: World, rules: SiteRules, number: int, site: str) -> Moves:
    flight = now.starts[number]
    if not flight.site and now.task == CLAIMED and (now.active == site or not rules.start_asks_for_the_site):
        yield f"{site} begins a start", now._replace(starts=_put(now.starts, number, Flight(site, now.batch)))
    if flight.site:
        ended = now._replace(starts=_put(now.starts, number, Flight()))
        if now.task == CLAIMED and now.batch == flight.batch and not flight.locked:
            if not any(other.locked for other in now.starts):
                yield (
                    f"{site} locks the batch",
                    now._replace(starts=_put(now.starts, number, flight._replace(locked=True))),
                )
        elif flight.locked:
            broken = BOTH if now.active not in ("", site) else ""
            took = ended._replace(task=RUNS, holder=site, runs=_put(now.runs, number, now.batch), broken=broken)
            yield f"{site} starts it", took
        else:
            yield f"{site} finds it taken", ended
    if now.runs[number]:
        ours = now.task == RUNS and now.batch == now.runs[number]
        done = now._replace(runs=_put(now.runs, number, 0))
        if ours:
            yield f"{site} settles it", done._replace(task=DONE)
        elif not rules.settle_asks_for_the_batch and now.task in (RUNS, DONE):
            yield f"{site} settles it late", done._replace(task=DONE, broken=TWICE)
        else:
            yield f"{site} finds it lost", done


def _opening(now: World, rules: SiteRules) -> Moves:
    if not now.opening.site:
        if now.chosen and rules.beats_open_what_was_chosen:
            yield "a beat begins to open", now._replace(opening=Flight(now.chosen, now.epoch))
        return
    yield "who opens dies", now._replace(opening=Flight())
    if rules.opening_awaits_what_is_in_flight and any(flight.site for flight in now.starts):
        return
    ended = now._replace(opening=Flight())
    if rules.opening_asks_for_the_epoch and (now.chosen, now.epoch) != now.opening[:2]:
        yield "it was chosen anew", ended
        return
    broken = "" if now.chosen == now.opening.site else OVERRULED
    opened = ended._replace(active=now.opening.site, chosen="", broken=broken)
    unlocked = not any(flight.locked for flight in now.starts)  # what somebody has locked is skipped
    if now.task == CLAIMED and unlocked and rules.opening_returns_what_was_not_started:
        opened = opened._replace(task=DUE, holder="")
    yield f"{now.opening.site} is opened", opened


def _choices(now: World, rules: SiteRules) -> Moves:
    if now.orders:
        for site in (*SITES, ""):
            if site != (now.chosen or now.active):
                chosen = _chosen(now, site)
                yield f"an operator chooses {site or 'nobody'}", chosen._replace(orders=now.orders - 1)
    if now.epoch < 3 and "a" in (now.active, now.chosen):
        if now.silent and not now.thinks:
            yield "b hears nothing of a", now._replace(thinks=True)
        yield "the beats of a come and go", now._replace(silent=not now.silent)
    if now.thinks:
        if now.silent and (now.chosen or now.active) == "a":
            yield "b takes over", _chosen(now, "b")._replace(thinks=False)
        elif rules.takeover_asks_again:
            yield "b sees that it need not", now._replace(thinks=False)
        else:
            yield "b takes over", _chosen(now, "b")._replace(thinks=False, broken=ROBBED)


def _chosen(now: World, site: str) -> World:
    chosen = now._replace(active="", chosen=site, epoch=now.epoch + 1)
    return chosen if now.opening.site or not site else chosen._replace(opening=Flight(site, now.epoch + 1))


def _put(pair: tuple, number: int, value: object) -> tuple:
    return (value, pair[1]) if number == 0 else (pair[0], value)


def stranded(now: World) -> str:
    """Whether a site was chosen and none will ever work."""
    return CLOSED if now.chosen and not now.opening.site else ""


def search_sites(rules: SiteRules) -> tuple[int, str, list[str]]:
    """How many states there are, the first promise that breaks, and the shortest way there."""
    first = World()
    ways: dict[World, tuple] = {first: ()}
    queue = [first]
    for state in queue:
        if broken := state.broken or ("" if rules.beats_open_what_was_chosen else stranded(state)):
            return len(ways), broken, _way(ways, state)
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = (state, line)
                queue.append(after)
    return len(ways), "", []


def _way(ways: dict[World, tuple], state: World) -> list[str]:
    lines = []
    while ways[state]:
        state, line = ways[state]
        lines.append(line)
    return lines[::-1]
