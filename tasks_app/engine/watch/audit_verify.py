"""Whether the audit trail is what it was: every hash is computed anew, and compared with what was anchored elsewhere.

Reads only, a stretch at a time, so it may run beside everything else; anchors lie in a file of its own meanwhile.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import NamedTuple

from tasks_app.core.audit_chain import digest_of, link_hash, moment
from tasks_app.core.audit_keys import AuditKeys
from tasks_app.lifecycle.audit_chain import AUDIT, entry_of
from tasks_app.sql import Row, run
from tasks_app.storage.partitions import EVER, partitions

from .audit_anchors import Anchors, Source
from .audit_findings import ADDED, ANCHOR, CHANGED, LONGEST, REMOVED, REORDERED, Finding, Report, instant

STEP = 1_000
NAMED = 100  # of what is told one by one
AHEAD = timedelta(minutes=1)  # that a clock may be ahead of ours


class Trail(NamedTuple):
    tenant: str
    place: int
    hash: bytes
    floor: int
    floor_hash: bytes


class Link(NamedTuple):
    place: int
    entry: int
    at: str
    digest: bytes
    hash: bytes
    chained_at: str
    columns: Row  # of the entry; all are None if it is gone


def verify(
    report: Report,
    keys: AuditKeys,
    anchors: Iterable[str] | None = None,
    tenant: str | None = None,
    since: datetime | None = None,
    progress: Callable[[int], None] = lambda entries: None,
    places: Sequence[Source] = (),
) -> Iterator[Finding]:
    """Each thing that is wrong, as it is found. `anchors` are lines, unless they are read from `places`; None: those
    that the database itself has."""
    with closing(sqlite3.connect("")) as kept:  # on the disk, and gone with it
        known = Anchors(kept, keys, report)
        found = _Look(report, known, tenant, since, progress)
        given = places or [Source("", _own_anchors() if anchors is None else anchors)]
        for one in [known.take(given), found.trails(), found.unlinked()]:
            for finding in one:
                report.found += 1
                yield finding


def _own_anchors() -> Iterator[str]:
    after = 0
    while rows := run("anchors_after", {"after": after, "step": STEP}):
        yield from (body for _, body in rows)
        after = rows[-1][0]


class _Look:
    def __init__(
        self,
        report: Report,
        anchors: Anchors,
        tenant: str | None,
        since: datetime | None,
        progress: Callable[[int], None],
    ) -> None:
        self._report, self._anchors, self._tenant, self._since = report, anchors, tenant, since
        self._progress = progress
        self._kept_from = kept_from()  # what was written before is gone with its month
        self._now: datetime = run("clock", {})[0][0]

    def trails(self) -> Iterator[Finding]:
        seen = set()
        yield from self._dropped_early()
        for trail in self._all():
            seen.add(trail.tenant)
            self._report.trails += 1
            yield from self._floor(trail)
            yield from self._walk(trail)
        for (tenant,) in run("trails_without_head", {}):
            if tenant not in seen and self._tenant in (None, tenant):
                seen.add(tenant)
                yield self._finding(REMOVED, tenant, "what says how far it goes is gone")
        for tenant in self._anchors.tenants():
            if tenant not in seen and self._tenant in (None, tenant):
                last = self._anchors.last_place(tenant)
                words = f"an anchor says that it goes to place {last:,}, and there is nothing of it"
                yield self._finding(REMOVED, tenant, words)

    def unlinked(self) -> Iterator[Finding]:
        """Entries that nobody gave a place, and those that are gone before they got one."""
        at: datetime | str = self._since or "-infinity"
        last = 0
        while True:
            params = {"at": at, "id": last, "step": STEP, "tenant": self._tenant}
            ((seen, waiting, ids, tenants, twice, at, last),) = run("unlinked", params)
            self._report.waiting += waiting
            for entry, tenant, is_twice in zip(ids, tenants, twice, strict=True):
                words = f"entry {entry} is there more than once" if is_twice else f"entry {entry} has no place in it"
                yield self._finding(ADDED, tenant, words, entry=entry)
            if seen < STEP:
                break
        if self._tenant is None:
            for (entry,) in run("gone_waiting", {"step": NAMED}):
                words = f"Entry {entry} was deleted before it had a place."
                yield Finding(REMOVED, None, None, entry, words)

    def _dropped_early(self) -> Iterator[Finding]:
        """A month that is not there need not have been dropped: perhaps nobody did anything in it."""
        until, since = self._kept_from, self._anchors.may_be_gone(self._now)
        if until is None or until <= since:
            return
        if run("links_between", {"since": since, "until": until})[0][0] or self._anchors.tell_of(since, until):
            words = f"All entries before {until} are gone, though those since {since} had not been kept long enough."
            yield Finding(REMOVED, None, None, None, words)

    def _all(self) -> Iterator[Trail]:
        if self._tenant is not None:
            yield from (Trail(*row) for row in run("trail_row", {"tenant": self._tenant}))
            return
        after, first = "", True
        while rows := run("trail_rows", {"after": after, "first": first, "step": STEP}):
            yield from (Trail(*row) for row in rows)
            after, first = rows[-1][0], False

    def _floor(self, trail: Trail) -> Iterator[Finding]:
        """What is gone from its beginning may be: it was old enough, and no anchor says otherwise."""
        if trail.floor and self._kept_from is None:
            yield self._finding(REMOVED, trail.tenant, f"places 1 to {trail.floor:,} are gone, though no month is")
            return
        for told in self._anchors.of(trail.tenant):
            if told.place > trail.place:
                words = f"anchor {told.no} says that it went to place {told.place:,}; it ends at {trail.place:,}"
                yield self._finding(REMOVED, trail.tenant, words, trail.place)
                return
            if trail.floor > told.floor and (told.oldest or "") >= (self._kept_from or ""):
                words = f"place {told.floor + 1:,} is gone; by anchor {told.no} its entry is of {told.oldest}"
                yield self._finding(REMOVED, trail.tenant, f"{words}, and its month was not dropped", told.floor + 1)
                return
            if trail.floor > told.place and told.at >= (self._kept_from or ""):
                words = f"places up to {trail.floor:,} are gone, but by anchor {told.no} of {told.at} it went only to"
                yield self._finding(REMOVED, trail.tenant, f"{words} {told.place:,} then", told.place + 1)
                return
            at_floor = {told.place: told.hash, told.floor: told.floor_hash}.get(trail.floor)
            if at_floor is not None and at_floor != trail.floor_hash.hex():
                yield self._finding(ANCHOR, trail.tenant, f"its beginning is not that of anchor {told.no}", trail.floor)
                return

    def _walk(self, trail: Trail) -> Iterator[Finding]:
        place, previous = self._beginning(trail)
        told = (one for one in self._anchors.of(trail.tenant) if one.place > place)
        next_told, looks = next(told, None), _Looks()
        last_anchored, told_late = self._anchors.last_place(trail.tenant), False
        while links := self._links(trail, place):
            for link in links:
                if link.place != place + 1:
                    fresh = self._trimmed(trail, link.place)
                    if fresh is not None:
                        previous = fresh
                    else:
                        yield self._gap(trail.tenant, place + 1, link.place - 1)
                        previous = None
                yield from self._judge(trail.tenant, link, previous)
                if late := looks.late(link):
                    yield self._finding(ADDED, trail.tenant, late, link.place, link.entry)
                if looks.goes_back or self._is_ahead(link.chained_at):
                    words = f"place {link.place:,} can't have been given at {link.chained_at}"
                    yield self._finding(REORDERED, trail.tenant, words, link.place, link.entry)
                while next_told is not None and next_told.place <= link.place:
                    if next_told.place == link.place and next_told.hash != link.hash.hex():
                        words = f"place {link.place:,} is not what anchor {next_told.no} of {next_told.at} says it was"
                        yield self._finding(ANCHOR, trail.tenant, words, link.place, link.entry)
                    next_told = next(told, None)
                if link.place > last_anchored and not told_late and (since := self._unanchored_since(link)):
                    told_late = True
                    words = f"place {link.place:,} should be in an anchor since {since}, and is in none"
                    yield self._finding(ANCHOR, trail.tenant, words, link.place, link.entry)
                place, previous = link.place, link.hash
                self._report.entries += 1
            self._progress(self._report.entries)
        if place < trail.place:
            yield self._gap(trail.tenant, place + 1, trail.place)
        elif run("link_at", {"tenant": trail.tenant, "place": trail.place + 1}) and not self._has_moved(trail):
            words = f"there are places after {trail.place:,}, which is the last by its head"
            yield self._finding(ADDED, trail.tenant, words, trail.place + 1)
        elif previous is not None and previous != trail.hash:
            yield self._finding(REORDERED, trail.tenant, f"its last place, {place:,}, is not what it was", place)

    def _links(self, trail: Trail, after: int) -> list[Link]:
        rows = run("links_after", {"tenant": trail.tenant, "after": after, "until": trail.place, "step": STEP})
        return [
            Link(place, entry, at, digest, hash_, chained_at, tuple(columns))
            for place, entry, at, digest, hash_, chained_at, *columns in rows
        ]

    def _judge(self, tenant: str, link: Link, previous: bytes | None) -> Iterator[Finding]:
        about = {"place": link.place, "entry": link.entry}
        if link.columns[0] is None:
            if not self._pruned(link.at):
                if run("same_entry", {"id": link.entry})[0][0]:
                    words = f"entry {link.entry} at place {link.place:,} has another time than when it was written"
                    yield self._finding(CHANGED, tenant, words, **about)
                else:
                    words = f"entry {link.entry} at place {link.place:,} is gone"
                    yield self._finding(REMOVED, tenant, words, **about)
        elif digest_of(entry_of(link.columns)) != link.digest:
            words = f"entry {link.entry} at place {link.place:,} is not what was written"
            yield self._finding(CHANGED, tenant, words, **about)
        if previous is not None:
            expected = link_hash(tenant, link.place, previous, link.digest, link.entry, link.at, link.chained_at)
            if expected != link.hash:
                words = f"place {link.place:,} does not follow from the one before: an entry was moved or put in"
                yield self._finding(REORDERED, tenant, words, **about)

    def _beginning(self, trail: Trail) -> tuple[int, bytes | None]:
        """The last place that is not looked at, and its hash. Times of places may be out of order by a transaction."""
        if self._since is None:
            return trail.floor, trail.floor_hash
        wanted, low, high = moment(self._since - LONGEST), trail.floor + 1, trail.place + 1
        while low < high:
            middle = (low + high) // 2
            found = run("link_at", {"tenant": trail.tenant, "place": middle})
            low, high = (middle + 1, high) if found and found[0][1] < wanted else (low, middle)
        if low <= trail.floor + 1:
            return trail.floor, trail.floor_hash
        found = run("link_at", {"tenant": trail.tenant, "place": low - 1})
        return low - 1, bytes(found[0][2]) if found and found[0][0] == low - 1 else None

    def _trimmed(self, trail: Trail, place: int) -> bytes | None:
        """The hash before this place if all before it was forgotten since we began, as it may be."""
        for row in run("trail_row", {"tenant": trail.tenant}):
            fresh = Trail(*row)
            if fresh.floor > trail.floor and fresh.floor == place - 1:
                return fresh.floor_hash
        return None

    def _has_moved(self, trail: Trail) -> bool:
        """Whether it got places since this round began."""
        return any(Trail(*row).place > trail.place for row in run("trail_row", {"tenant": trail.tenant}))

    def _unanchored_since(self, link: Link) -> str | None:
        """An anchor names all that got its place before it. When that was may have been written anew, with all hashes;
        but an entry is committed, and gets its place, soon after it is written."""
        first, last = self._anchors.first_at, self._report.anchored_at
        if first is None or last is None:
            return None
        known = (link.chained_at, moment(instant(link.at) + LONGEST))
        return next((since for since in known if first <= since < last), None)

    def _is_ahead(self, chained_at: str) -> bool:
        if chained_at > moment(self._now + AHEAD):
            self._now = run("clock", {})[0][0]  # this may have begun long ago
        return chained_at > moment(self._now + AHEAD)

    def _pruned(self, at: str) -> bool:
        if self._kept_from is None or at >= self._kept_from:
            self._kept_from = kept_from()
        return self._kept_from is not None and at < self._kept_from

    def _gap(self, tenant: str, first: int, last: int) -> Finding:
        which = f"place {first:,} is" if first == last else f"places {first:,} to {last:,} are"
        return self._finding(REMOVED, tenant, f"{which} gone", first)

    def _finding(
        self, kind: str, tenant: str, words: str, place: int | None = None, entry: int | None = None
    ) -> Finding:
        whose = f"Trail of {tenant}" if tenant else "Trail of what all tenants share"
        return Finding(kind, tenant, place, entry, f"{whose}: {words}.")


class _Looks:
    """Each look takes all that was committed before it: so what comes with a later one was not there yet."""

    def __init__(self) -> None:
        self._this, self._before = "", ""
        self.goes_back = False  # the last is of a time before the one before it

    def late(self, link: Link) -> str | None:
        self.goes_back = False
        if link.chained_at != self._this:
            if link.chained_at < self._this:
                self.goes_back = instant(link.chained_at) < instant(self._this) - LONGEST
            self._this, self._before = link.chained_at, self._this
        if link.at >= self._before or instant(link.at) >= instant(self._before) - LONGEST:
            return None
        words = f"entry {link.entry} at place {link.place:,} says that it was written at {link.at}, but was added after"
        return f"{words} {self._before}"


def kept_from() -> str | None:
    """What was written before may be gone with its month. None: nothing may."""
    there = partitions(AUDIT)
    return None if not there or there[0].since == EVER else moment(there[0].since)
