"""Alarms, as two searches of their own: what happened counts once and is told once, and every alert arrives.

`Incident`: two deaths of one cause commit in any order. Two beats read what was committed between two snapshots, count
it in the open incident, write the alerts about it, and close it when all is well again. `Channel`: two senders take a
channel by a lease, send the alerts that wait one after the other, and write down what arrived. Any of them may be
killed between any two steps, and a sender may hang until its lease has run out and then go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

COUNTED_TWICE = "an event was counted twice"
NEVER_COUNTED = "a committed event was never counted"
TOLD_TWICE = "that it began was told twice"
NOT_WELL = "somebody was told that it began and never that it is well again"
NEVER_SENT = "an alert never arrived"
OUT_OF_TURN = "that it is well again arrived before that it began"
SENT_TWICE = "an alert arrived twice, and no sender was lost"


@dataclass(frozen=True, slots=True)
class AlarmRules:
    what_is_read_is_between_snapshots: bool = True  # else what has a larger number than the last
    counting_and_reading_are_one_transaction: bool = True
    one_beat_reads_at_a_time: bool = True
    telling_locks_the_incident: bool = True
    the_alert_and_that_it_was_told_are_one_transaction: bool = True
    closing_locks_the_incident: bool = True


class Open(NamedTuple):
    """The incident that is open."""

    count: int
    told: int = 0  # of these; 0: nobody was told
    begun: int = 0  # alerts that say that it began


class Told(NamedTuple):
    """What a beat saw of the incident when it was to tell of it."""

    count: int
    first: bool  # nobody had been told


class Incident(NamedTuple):
    begun: tuple[int, ...] = ()  # transactions, in the order of their numbers
    committed: frozenset[int] = frozenset()
    seen: frozenset[int] = frozenset()  # by the reader
    reads: tuple[frozenset[int] | None, ...] = (None, None)  # what each beat is reading; it holds the lock
    counted: tuple[tuple[int, ...], ...] = ((), ())  # by each beat, and not written down as read (wrong)
    counts: tuple[int, int] = (0, 0)  # how often each event was
    open: Open | None = None
    tells: tuple[Told | None, ...] = (None, None)  # what each beat is about to tell; it holds the lock
    written: tuple[bool, bool] = (False, False)  # the alert, and not that it was told (wrong)
    closer: bool | None = None  # it saw whether anybody was told, and has not closed the incident yet (wrong)
    kills: int = 2
    broken: str = ""


def moves_of_incident(state: Incident, rules: AlarmRules) -> Iterator[tuple[str, Incident]]:
    for tx in range(2):
        if tx not in state.begun:
            yield f"T{tx} gets number {len(state.begun)}", state._replace(begun=(*state.begun, tx))
        elif tx not in state.committed:
            yield f"T{tx} commits", state._replace(committed=state.committed | {tx})
    for beat in range(2):
        yield from _read(state, rules, beat)
        yield from _tell(state, rules, beat)
    yield from _close(state, rules)


def _read(state: Incident, rules: AlarmRules, beat: int) -> Iterator[tuple[str, Incident]]:
    pending = state.reads[beat]
    if pending is None:
        visible = state.committed
        if not rules.what_is_read_is_between_snapshots:
            last = max((state.begun.index(tx) for tx in state.seen), default=-1)
            visible = state.seen | {tx for tx in state.committed if state.begun.index(tx) > last}
        busy = rules.one_beat_reads_at_a_time and any(one is not None for one in state.reads)
        if visible - state.seen and not busy:
            yield (
                f"beat {beat} reads {sorted(visible - state.seen)}",
                state._replace(reads=_set(state.reads, beat, visible - state.seen)),
            )
        return
    dropped = state._replace(reads=_set(state.reads, beat, None), counted=_set(state.counted, beat, ()))
    if state.kills:
        yield f"beat {beat} is killed while it reads", dropped._replace(kills=state.kills - 1)
    if _locked(state, rules) and not state.counted[beat]:
        return  # by whoever tells of the incident
    if rules.counting_and_reading_are_one_transaction:
        yield f"beat {beat} counts and commits", _count(dropped, pending)._replace(seen=state.seen | pending)
    elif not state.counted[beat]:
        counted = state._replace(counted=_set(state.counted, beat, tuple(sorted(pending))))
        yield f"beat {beat} counts and commits", _count(counted, pending)
    else:
        yield f"beat {beat} writes down what it has read", dropped._replace(seen=state.seen | pending)


def _count(state: Incident, events: frozenset[int]) -> Incident:
    counts = tuple(count + (tx in events) for tx, count in enumerate(state.counts))
    now = state.open or Open(0)
    return state._replace(counts=counts, open=now._replace(count=now.count + len(events)))


def _tell(state: Incident, rules: AlarmRules, beat: int) -> Iterator[tuple[str, Incident]]:
    pending = state.tells[beat]
    if pending is None:
        if state.open is not None and state.open.count > state.open.told and not _locked(state, rules):
            seen = Told(state.open.count, state.open.told == 0)
            yield f"beat {beat} is to tell of it", state._replace(tells=_set(state.tells, beat, seen))
        return
    over = state._replace(tells=_set(state.tells, beat, None), written=_set(state.written, beat, False))
    if state.kills:
        yield f"beat {beat} is killed while it tells", over._replace(kills=state.kills - 1)
    if state.open is None:
        yield f"beat {beat} finds it closed", over
    elif rules.the_alert_and_that_it_was_told_are_one_transaction:
        yield f"beat {beat} writes the alert and that it was told", _told(_alert(over, pending), pending)
    elif not state.written[beat]:
        yield f"beat {beat} writes the alert", _alert(state, pending)._replace(written=_set(state.written, beat, True))
    else:
        yield f"beat {beat} writes that it was told", _told(over, pending)


def _alert(state: Incident, seen: Told) -> Incident:
    return state._replace(open=state.open._replace(begun=state.open.begun + seen.first))


def _told(state: Incident, seen: Told) -> Incident:
    return state._replace(open=state.open._replace(told=seen.count))


def _close(state: Incident, rules: AlarmRules) -> Iterator[tuple[str, Incident]]:
    if state.closer is not None:
        yield "it is closed", _closed(state, state.closer)._replace(closer=None)
    elif state.open is not None and not _locked(state, rules):
        if rules.closing_locks_the_incident:
            yield "all is well again, and it is closed", _closed(state, state.open.told > 0)
        else:
            yield "all is well again", state._replace(closer=state.open.told > 0)


def _closed(state: Incident, tells_well: bool) -> Incident:
    """Whoever was told that it began is told that it is well again."""
    wrong = state.open is not None and bool(state.open.begun) and not tells_well
    return state._replace(open=None, broken=state.broken or (NOT_WELL if wrong else ""))


def _locked(state: Incident, rules: AlarmRules) -> bool:
    return rules.telling_locks_the_incident and any(one is not None for one in state.tells)


def flaw_of_incident(state: Incident, rules: AlarmRules) -> str:
    if state.broken:
        return state.broken
    if max(state.counts) > 1:
        return COUNTED_TWICE
    if state.open is not None and state.open.begun > 1:
        return TOLD_TWICE
    if len(state.committed) == 2 and not any(True for _ in moves_of_incident(state, rules)) and 0 in state.counts:
        return NEVER_COUNTED
    return ""


@dataclass(frozen=True, slots=True)
class SendingRules:
    one_sender_has_the_channel: bool = True
    who_lost_the_channel_takes_no_other_alert: bool = True
    sent_is_written_after_the_answer: bool = True
    alerts_are_sent_in_order: bool = True


class Sender(NamedTuple):
    fence: int
    carries: int | None = None  # an alert
    sent: bool = False


class Channel(NamedTuple):
    alerts: int = 3  # the first says that it began, the last that it is well again
    done: frozenset[int] = frozenset()
    arrived: tuple[int, ...] = ()
    fence: int = 0
    held: bool = False
    senders: tuple[Sender | None, ...] = (None, None)
    losses: int = 0  # of senders that were killed, or whose lease ran out
    failures: int = 1  # calls that may fail


def moves_of_channel(state: Channel, rules: SendingRules) -> Iterator[tuple[str, Channel]]:
    for number, sender in enumerate(state.senders):
        if sender is None:
            free = not state.held or not rules.one_sender_has_the_channel
            if free and len(state.done) < state.alerts:
                taken = state._replace(fence=state.fence + 1, held=True)
                yield f"sender {number} takes the channel", _sender(taken, number, Sender(state.fence + 1))
        else:
            yield from _send(state, rules, number, sender)


def _send(state: Channel, rules: SendingRules, number: int, sender: Sender) -> Iterator[tuple[str, Channel]]:
    has_it = sender.fence == state.fence
    released = _sender(state, number, None)._replace(held=state.held and not has_it)
    if has_it and state.held and not state.losses:
        lost = state._replace(held=False, losses=1)
        yield f"sender {number} is killed, and its lease runs out", _sender(lost, number, None)
        yield f"sender {number} hangs until its lease has run out", lost
    if sender.carries is None:
        waiting = sorted(set(range(state.alerts)) - state.done, reverse=not rules.alerts_are_sent_in_order)
        if not waiting or (not has_it and rules.who_lost_the_channel_takes_no_other_alert):
            yield f"sender {number} lets the channel go", released
        else:
            taken = _sender(state, number, sender._replace(carries=waiting[0], sent=False))
            if not rules.sent_is_written_after_the_answer:
                taken = taken._replace(done=state.done | {waiting[0]})
            yield f"sender {number} takes alert {waiting[0]}", taken
    elif not sender.sent:
        arrived = state._replace(arrived=(*state.arrived, sender.carries))
        yield f"alert {sender.carries} of sender {number} arrives", _sender(arrived, number, sender._replace(sent=True))
        if state.failures:
            failed = released._replace(failures=0)
            yield f"the call of sender {number} fails", failed
    else:
        done = state._replace(done=state.done | {sender.carries})
        yield (
            f"sender {number} writes that alert {sender.carries} was sent",
            _sender(done, number, Sender(sender.fence)),
        )


def flaw_of_channel(state: Channel, rules: SendingRules) -> str:
    first = list(dict.fromkeys(state.arrived))
    if first != sorted(first):
        return OUT_OF_TURN
    if len(state.arrived) - len(first) > state.losses:
        return SENT_TWICE
    if not any(True for _ in moves_of_channel(state, rules)) and len(first) < state.alerts:
        return NEVER_SENT
    return ""


def _sender(state: Channel, number: int, sender: Sender | None) -> Channel:
    return state._replace(senders=_set(state.senders, number, sender))


def _set(values: tuple, place: int, value: object) -> tuple:
    return (*values[:place], value, *values[place + 1 :])


def search_incident(rules: AlarmRules) -> tuple[int, str, list[str]]:
    return _search(Incident(), moves_of_incident, flaw_of_incident, rules)


def search_channel(rules: SendingRules) -> tuple[int, str, list[str]]:
    return _search(Channel(), moves_of_channel, flaw_of_channel, rules)


def _search(first: NamedTuple, moves: Callable, flaw: Callable, rules: object) -> tuple[int, str, list[str]]:
    """How many states there are, and the shortest way to one in which a promise is broken, and which that is."""
    ways: dict[NamedTuple, list[str]] = {first: []}
    queue = [first]
    for state in queue:
        if broken := flaw(state, rules):
            return len(ways), broken, ways[state]
        for line, after in moves(state, rules):
            if after not in ways:
                ways[after] = [*ways[state], line]
                queue.append(after)
    return len(ways), "", []
