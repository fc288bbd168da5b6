"""Quarantine and rehearsal, as a search of its own: on a copy no handler is called, and what is put aside comes back.

A copy is started with the original's settings. A beat and a worker look at what their database is, claim and start;
one message may be there from before the copy was made. An operator puts it into quarantine, rehearses, and lets it go
on, three times in all; a person cancels the task. What a rehearsal put aside, beats put back. Each step may be the last
that its process does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

ACTIVE, QUARANTINED, REHEARSING = "ACTIVE", "QUARANTINED", "REHEARSING"
# The task: due, claimed under a batch, running in a handler, put aside, over, cancelled.
DUE, CLAIMED, RUNS, ASIDE, DONE, CANCELLED = "due", "claimed", "runs", "aside", "done", "CANCELLED"

CALLED = "a handler was called that nobody has allowed"
REVIVED = "a task that was cancelled is due again"
LOST = "a task stays aside although nobody rehearses"


@dataclass(frozen=True, slots=True)
class QuarantineRules:
    beat_looks_before_it_claims: bool = True
    worker_looks_before_it_takes: bool = True
    claim_asks_for_the_state: bool = True
    start_asks_for_the_state: bool = True
    aside_holds_the_installation: bool = True
    put_back_requires_aside: bool = True
    resume_puts_back_what_is_left: bool = True


class Copy(NamedTuple):
    task: str
    message: bool  # about its batch, in the broker
    state: str = ACTIVE  # as the row says, which was copied
    allowed: bool = False  # an operator has said that this is no copy
    beat: bool = False  # has looked
    worker: bool = False
    puts_aside: bool = False  # a worker has seen the rehearsal, and is about to write
    kept: bool = False  # a row says when the task was due before it was put aside
    pending: bool = False  # what the operator ordered when it was let go on is being carried out
    orders: int = 3  # that the operator has left
    cancels: int = 1
    broken: str = ""


Moves = Iterator[tuple[str, Copy]]


def moves(now: Copy, rules: QuarantineRules) -> Moves:
    yield from _looks(now)
    yield from _beat(now, rules)
    yield from _worker(now, rules)
    yield from _people(now, rules)


def _looks(now: Copy) -> Moves:
    """Whoever looks at a copy that nobody has allowed puts it into quarantine."""
    judged = now.state if now.allowed or now.state != ACTIVE else QUARANTINED
    if not now.beat:
        yield "the beat looks", now._replace(beat=True, state=judged)
    if not now.worker:
        yield "the worker looks", now._replace(worker=True, state=judged)


def _beat(now: Copy, rules: QuarantineRules) -> Moves:
    may = now.beat or not rules.beat_looks_before_it_claims
    if may and now.task == DUE and (now.state != QUARANTINED or not rules.claim_asks_for_the_state):
        yield "the beat claims", now._replace(task=CLAIMED, message=True)
    if now.state == ACTIVE and now.pending and not (now.kept and rules.resume_puts_back_what_is_left):
        yield "the order is carried out", now._replace(pending=False)
    if now.state == ACTIVE and now.pending and now.kept and rules.resume_puts_back_what_is_left:
        back = now._replace(kept=False)
        if now.task == ASIDE:
            back = back._replace(task=DUE)
        elif now.task == CANCELLED and not rules.put_back_requires_aside:
            back = back._replace(task=DUE, broken=REVIVED)
        yield "a beat puts it back", back
    if now.task == CLAIMED and not now.message and not now.puts_aside and now.state == ACTIVE:
        yield "its lease runs out", now._replace(task=DUE)


def _worker(now: Copy, rules: QuarantineRules) -> Moves:
    may = now.worker or not rules.worker_looks_before_it_takes
    if now.message and may:
        taken = now._replace(message=False)
        if now.task != CLAIMED:
            yield "the worker finds nothing in it", taken
        elif now.state == ACTIVE or not rules.start_asks_for_the_state:
            allowed = now.allowed and now.state == ACTIVE
            yield "the worker starts it", taken._replace(task=RUNS, broken="" if allowed else CALLED)
        elif now.state == REHEARSING:
            yield "the worker sees the rehearsal", taken._replace(puts_aside=True)
        else:
            yield "the worker gives it back", taken._replace(task=DUE)
        yield "the message is lost", taken
    if now.puts_aside:
        # Without the lock the state that it saw may be gone.
        if now.task == CLAIMED:
            yield "the worker puts it aside", now._replace(puts_aside=False, task=ASIDE, kept=True)
        yield "the worker dies", now._replace(puts_aside=False)
    if now.task == RUNS:
        yield "the handler ends", now._replace(task=DONE)


def _people(now: Copy, rules: QuarantineRules) -> Moves:
    if now.cancels and now.task in (DUE, CLAIMED, ASIDE):
        yield "a person cancels it", now._replace(task=CANCELLED, cancels=0)
    if not now.orders or (now.puts_aside and rules.aside_holds_the_installation):
        return
    ordered = now._replace(orders=now.orders - 1)
    if now.state != QUARANTINED:
        yield "an operator stops it", ordered._replace(state=QUARANTINED)
    else:
        yield "an operator rehearses", ordered._replace(state=REHEARSING, allowed=True)
    if now.state != ACTIVE:
        yield "an operator lets it go on", ordered._replace(state=ACTIVE, allowed=True, pending=True)


def stranded(now: Copy) -> str:
    """Whether nobody is going to put it back."""
    return LOST if now.task == ASIDE and now.state == ACTIVE and not now.pending else ""


def search_quarantine(rules: QuarantineRules) -> tuple[int, str, list[str]]:
    """How many states there are, the first promise that breaks, and the shortest way there."""
    first = [Copy(DUE, message=False), Copy(CLAIMED, message=True)]
    ways: dict[Copy, list[str]] = {state: [] for state in first}
    queue = list(first)
    for state in queue:
        if broken := state.broken or stranded(state):
            return len(ways), broken, ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), "", []
