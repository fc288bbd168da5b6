"""Whether the audit trail is what it was: every hash is computed anew, and compared with what was anchored elsewhere.

Reads only, a stretch at a time, so it may run beside everything else; anchors lie in a file of its own meanwhile.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from tasks_app.core.audit_chain import canonical, digest_of, link_hash, moment, parsed
from tasks_app.core.audit_keys import AuditKeys
from tasks_app.lifecycle.audit_anchor import KIND
from tasks_app.lifecycle.audit_chain import AUDIT, entry_of
from tasks_app.sql import run
from tasks_app.storage.partitions import EVER, partitions

STEP = 1_000
NAMED = 100  # of what is told one by one
KEPT = timedelta(days=180)  # younger than that nothing may be gone
LONGEST = timedelta(hours=1)  # that a transaction may have taken from its entry to its commit

CHANGED, REMOVED, ADDED, REORDERED, ANCHOR = "changed", "removed", "added", "reordered", "anchor"


class Finding(NamedTuple):
    kind: str
    tenant: str | None  # None: not of one trail
    place: int | None
    entry: int | None
    sentence: str


@dataclass
class Report:
    """What was looked at; complete when the last finding has been taken."""

    trails: int = 0
    entries: int = 0
    waiting: int = 0  # that have no place yet: committed a moment ago
    anchors: int = 0
    anchored_at: str | None = None  # the time of the last anchor: what came later is proved by the next
    found: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.found


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
    columns: tuple  # of the entry; all are None if it is gone


class Told(NamedTuple):
    """What an anchor says of a trail."""

    no: int
    at: str
    place: int
    hash: str
    floor: int
    floor_hash: str
    oldest: str | None


def verify(
    report: Report,
    keys: AuditKeys,
    anchors: Iterable[str] | None = None,
    tenant: str | None = None,
    since: datetime | None = None,
    progress: Callable[[int], None] = lambda entries: None,
) -> Iterator[Finding]:
    """Each thing that is wrong, as it is found. `anchors` are lines; None: those that the database itself has."""
    with closing(sqlite3.connect("")) as kept:  # on the disk, and gone with it
        known = Anchors(kept, keys, report)
        found = _Look(report, known, tenant, since, progress)
        for one in [known.take(_own_anchors() if anchors is None else anchors), found.trails(), found.unlinked()]:
            for finding in one:
                report.found += 1
                yield finding


def _own_anchors() -> Iterator[str]:
    after = 0
    while rows := run("anchors_after", {"after": after, "step": STEP}):
        yield from (body for _, body in rows)
        after = rows[-1][0]


class Anchors:
    """What was signed, by tenant and place."""

    def __init__(self, kept: sqlite3.Connection, keys: AuditKeys, report: Report) -> None:
        self._kept, self._keys, self._report = kept, keys, report
        self.first_at: str | None = None  # of the oldest: others may have been thrown away
        kept.execute("CREATE TABLE anchor (no INTEGER PRIMARY KEY, at TEXT, hash TEXT, previous TEXT)")
        kept.execute("CREATE TABLE told (tenant TEXT, no, at, place INTEGER, hash, floor, floor_hash, oldest)")
        kept.execute("CREATE INDEX places ON told (tenant, place, no)")

    def take(self, lines: Iterable[str]) -> Iterator[Finding]:
        for line in lines:
            yield from self._one(line.strip())
        yield from self._in_a_row()
        found = self._kept.execute("SELECT count(*), max(at), min(at) FROM anchor").fetchone()
        self._report.anchors, self._report.anchored_at, self.first_at = found

    def of(self, tenant: str) -> Iterator[Told]:
        """By place."""
        rows = self._kept.execute(
            "SELECT no, at, place, hash, floor, floor_hash, oldest FROM told WHERE tenant = ? ORDER BY place, no",
            [tenant],
        )
        return (Told(*row) for row in rows)

    def last_place(self, tenant: str) -> int:
        return self._kept.execute("SELECT coalesce(max(place), 0) FROM told WHERE tenant = ?", [tenant]).fetchone()[0]

    def tenants(self) -> list[str]:
        return [tenant for (tenant,) in self._kept.execute("SELECT DISTINCT tenant FROM told ORDER BY tenant")]

    def _one(self, line: str) -> Iterator[Finding]:
        try:
            told = parsed(line)
            no, at, key_id, signature = int(told["no"]), told["at"], told["key"], told.pop("signature")
            heads = [_head(one) for one in told["trails"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            # A crash may have cut it off; its number is then missing, or comes again.
            self._report.notes.append(f"A line of the anchors can't be read: {line[:40]!r}…")
            return
        if told.get("kind") != KIND:
            self._report.notes.append(f"A line of the anchors is something else: {line[:40]!r}…")
            return
        key = self._keys.get(key_id)
        if key is None:
            words = f"anchor {no} is signed with the key {key_id}, which is unknown here"
            yield _of_anchors(f'{words}. If it was one of yours, put its public half into PUNCTUAL["AUDIT_KEYS"].')
            return
        if not key.has_signed(signature, canonical(told).encode()):
            yield _of_anchors(f"anchor {no} is not what the key {key_id} has signed")
            return
        hash_ = hashlib.sha256(canonical(told | {"signature": signature}).encode()).hexdigest()
        twice = self._kept.execute("SELECT hash FROM anchor WHERE no = ?", [no]).fetchone()
        if twice is not None:
            if twice[0] != hash_:
                yield _of_anchors(f"there are two anchors {no}: two databases have gone on from the same trail")
            return
        self._kept.execute("INSERT INTO anchor VALUES (?, ?, ?, ?)", [no, at, hash_, told["previous"]])
        self._kept.executemany("INSERT INTO told VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(t, no, at, *r) for t, *r in heads])

    def _in_a_row(self) -> Iterator[Finding]:
        before: tuple | None = None
        for no, hash_, previous in self._kept.execute("SELECT no, hash, previous FROM anchor ORDER BY no"):
            if before is not None and no > before[0] + 1:
                yield _of_anchors(f"anchors {before[0] + 1} to {no - 1} are missing")
            elif before is not None and previous != before[1]:
                yield _of_anchors(f"anchor {no} does not follow from anchor {before[0]}")
            before = (no, hash_)


def _head(one: dict) -> tuple:
    floor = int(one["floor"])
    return one["tenant"], int(one["place"]), one["hash"], floor, one["floor_hash"], one["oldest"]


def _of_anchors(words: str) -> Finding:
    return Finding(ANCHOR, None, None, None, words[0].upper() + words[1:] + ("" if words.endswith(".") else "."))


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
        self._kept_from = _kept_from()  # what was written before is gone with its month

    def trails(self) -> Iterator[Finding]:
        seen = set()
        if self._kept_from is not None and self._kept_from > moment(run("clock", {})[0][0] - KEPT):
            yield Finding(
                REMOVED,
                None,
                None,
                None,
                f"All entries before {self._kept_from} are gone, though they were not 180 days old.",
            )
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
            ((seen, waiting, ids, tenants, at, last),) = run("unlinked", params)
            self._report.waiting += waiting
            for entry, tenant in zip(ids, tenants, strict=True):
                yield self._finding(ADDED, tenant, f"entry {entry} has no place in it", entry=entry)
            if seen < STEP:
                break
        if self._tenant is None:
            for (entry,) in run("gone_waiting", {"step": NAMED}):
                words = f"Entry {entry} was deleted before it had a place."
                yield Finding(REMOVED, None, None, entry, words)

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
                while next_told is not None and next_told.place <= link.place:
                    if next_told.place == link.place and next_told.hash != link.hash.hex():
                        words = f"place {link.place:,} is not what anchor {next_told.no} of {next_told.at} says it was"
                        yield self._finding(ANCHOR, trail.tenant, words, link.place, link.entry)
                    next_told = next(told, None)
                if link.place > last_anchored and self._between_anchors(link.chained_at) and not told_late:
                    told_late = True
                    words = f"place {link.place:,} should be in an anchor since {link.chained_at}, and is in none"
                    yield self._finding(ANCHOR, trail.tenant, words, link.place, link.entry)
                place, previous = link.place, link.hash
                self._report.entries += 1
            self._progress(self._report.entries)
        if place < trail.place:
            yield self._gap(trail.tenant, place + 1, trail.place)
        elif previous is not None and previous != trail.hash:
            yield self._finding(REORDERED, trail.tenant, f"its last place, {place:,}, is not what it was", place)

    def _links(self, trail: Trail, after: int) -> list[Link]:
        rows = run("links_after", {"tenant": trail.tenant, "after": after, "until": trail.place, "step": STEP})
        return [Link(*row[:6], row[6:]) for row in rows]

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

    def _between_anchors(self, chained_at: str) -> bool:
        first, last = self._anchors.first_at, self._report.anchored_at
        return first is not None and last is not None and first <= chained_at < last

    def _pruned(self, at: str) -> bool:
        if self._kept_from is None or at >= self._kept_from:
            self._kept_from = _kept_from()
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

    def late(self, link: Link) -> str | None:
        if link.chained_at != self._this:
            self._this, self._before = link.chained_at, self._this
        if link.at >= self._before or _instant(link.at) >= _instant(self._before) - LONGEST:
            return None
        words = f"entry {link.entry} at place {link.place:,} says that it was written at {link.at}, but was added after"
        return f"{words} {self._before}"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _kept_from() -> str | None:
    """None: since ever."""
    there = partitions(AUDIT)
    return None if not there or there[0].since == EVER else moment(there[0].since)


def as_json(finding: Finding) -> str:
    return json.dumps({"finding": finding._asdict()}, ensure_ascii=False)
