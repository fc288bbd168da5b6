"""Anchors of the audit trail, as they were read somewhere: which are genuine, and what they say of each trail."""

import hashlib
import json
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tasks_app.core.audit_chain import canonical, moment, parsed
from tasks_app.core.audit_keys import AuditKeys
from tasks_app.lifecycle.audit_anchor import KIND
from tasks_app.sql import run

from .audit_findings import ANCHOR, LONGEST, Finding, Report, instant

KEPT_DAYS = 180  # younger than that nothing may be gone, unless the anchors say more


class Told(NamedTuple):
    """What an anchor says of a trail."""

    no: int
    at: str
    place: int
    hash: str
    floor: int
    floor_hash: str
    oldest: str | None


class Source(NamedTuple):
    """A place that anchors were read from."""

    name: str
    lines: Iterable[str]
    sent_no: int = 0  # what the database says that it has got


class Anchors:
    """What was signed, by tenant and place."""

    def __init__(self, kept: sqlite3.Connection, keys: AuditKeys, report: Report) -> None:
        self._kept, self._keys, self._report = kept, keys, report
        self.first_at: str | None = None  # of the oldest: others may have been thrown away
        self.gone_before: str | None = None  # by none of them anything younger may be gone
        kept.execute("CREATE TABLE anchor (hash TEXT PRIMARY KEY, no INTEGER, at TEXT, previous, gone_before, loss)")
        kept.execute("CREATE INDEX numbers ON anchor (no)")
        kept.execute("CREATE INDEX successors ON anchor (previous)")
        kept.execute("CREATE TABLE told (tenant TEXT, no, at, place INTEGER, hash, floor, floor_hash, oldest, anchor)")
        kept.execute("CREATE INDEX places ON told (tenant, place, no)")
        kept.execute("CREATE INDEX tellers ON told (anchor)")

    def take(self, sources: Sequence[Source]) -> Iterator[Finding]:
        for source in sources:
            yield from self._read(source)
        self._leave_lost()
        yield from self._double()
        yield from self._in_a_row()
        found = self._kept.execute("SELECT count(*), max(at), min(at), max(gone_before) FROM anchor").fetchone()
        self._report.anchors, self._report.anchored_at, self.first_at, self.gone_before = found
        self._report.anchors_from = [source.name for source in sources if source.name]

    def _read(self, source: Source) -> Iterator[Finding]:
        last = 0
        for line in source.lines:
            last = max(last, (yield from self._one(line.strip())))
        if last < source.sent_no:
            words = f"{source.name} has anchors up to {last:,}, but was sent those up to {source.sent_no:,}"
            yield Finding(ANCHOR, None, None, None, f"{words}, says the database.")
        elif source.name and last < (newest := _newest()):
            words = f"{source.name} has anchors up to {last:,}; the database has some up to {newest:,}"
            self._report.notes.append(f"{words}, which prove nothing before they get there.")

    def _leave_lost(self) -> None:
        """What a signed break says was lost with a database counts no more: it is told, and no finding."""
        breaks = "SELECT hash, no, loss FROM anchor WHERE loss IS NOT NULL ORDER BY at"
        for hash_, no, loss in self._kept.execute(breaks).fetchall():
            told = json.loads(loss)
            lost = self._kept.execute(_NOT_OF_ITS_LINE, [hash_, hash_, int(told["last_good"])]).fetchall()
            for (one,) in lost:
                self._forget(one)
            words = f"{len(lost):,} anchors after {told['last_good']} were" if len(lost) != 1 else "1 anchor was"
            said = f"{words} lost with a database, says {told['by']} in anchor {no}: {told['reason']!r}"
            self._report.notes.append(f"{said}.")

    def _double(self) -> Iterator[Finding]:
        """Of two with one number, the first counts."""
        for hash_, no in self._kept.execute(_SECOND_ONES).fetchall():
            yield _of_anchors(f"there are two anchors {no}: two databases have gone on from the same trail")
            self._forget(hash_)

    def _forget(self, hash_: str) -> None:
        self._kept.execute("DELETE FROM told WHERE anchor = ?", [hash_])
        self._kept.execute("DELETE FROM anchor WHERE hash = ?", [hash_])

    def may_be_gone(self, now: datetime) -> str:
        """What was written before this has been kept long enough: by the last anchor, now; by others, at their time."""
        if self.gone_before is None:
            return moment(now - timedelta(days=KEPT_DAYS))
        newest = "SELECT at, gone_before FROM anchor ORDER BY no DESC LIMIT 1"
        at, gone_before = self._kept.execute(newest).fetchone()
        return max(self.gone_before, moment(now - (instant(at) - instant(gone_before))))

    def tell_of(self, since: str, until: str) -> bool:
        """Whether they know of an entry of this time: the oldest of a trail, or one since the anchor before."""
        later = moment(instant(since) + LONGEST)
        return self._kept.execute(_TOLD_OF, [since, until, later, until]).fetchone() is not None

    def of(self, tenant: str) -> Iterator[Told]:
        """By place."""
        rows = self._kept.execute(
            "SELECT no, at, place, hash, floor, floor_hash, oldest FROM told WHERE tenant = ? ORDER BY place, no",
            [tenant],
        )
        return (Told(*row) for row in rows)

    def last_place(self, tenant: str) -> int:
        found = self._kept.execute("SELECT coalesce(max(place), 0) FROM told WHERE tenant = ?", [tenant])
        last: int = found.fetchone()[0]
        return last

    def tenants(self) -> list[str]:
        return [tenant for (tenant,) in self._kept.execute("SELECT DISTINCT tenant FROM told ORDER BY tenant")]

    def _one(self, line: str) -> Generator[Finding, None, int]:
        """Returns its number; 0: it is none that counts."""
        try:
            told: dict[str, Any] = parsed(line)
            no, at, key_id, signature = int(told["no"]), told["at"], told["key"], str(told.pop("signature"))
            signed = canonical(told).encode()
            heads, loss = [_head(one) for one in told["trails"]], _loss(told.get("after_loss"))
            gone_before = moment(instant(at) - timedelta(days=float(told.get("kept_days", KEPT_DAYS))))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            # A crash may have cut it off; its number is then missing, or comes again.
            self._report.notes.append(f"A line of the anchors can't be read: {line[:40]!r}…")
            return 0
        if told.get("kind") != KIND:
            self._report.notes.append(f"A line of the anchors is something else: {line[:40]!r}…")
            return 0
        key = self._keys.get(key_id)
        if key is None:
            words = f"anchor {no} is signed with the key {key_id}, which is unknown here"
            yield _of_anchors(f'{words}. If it was one of yours, put its public half into PUNCTUAL["AUDIT_KEYS"].')
            return 0
        if not key.has_signed(signature, signed):
            yield _of_anchors(f"anchor {no} is not what the key {key_id} has signed")
            return 0
        hash_ = hashlib.sha256(canonical(told | {"signature": signature}).encode()).hexdigest()
        row = [hash_, no, at, told["previous"], gone_before, loss]
        if self._kept.execute("INSERT OR IGNORE INTO anchor VALUES (?, ?, ?, ?, ?, ?)", row).rowcount:
            heads = [(tenant, no, at, *rest, hash_) for tenant, *rest in heads]
            self._kept.executemany("INSERT INTO told VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", heads)
        return no

    def _in_a_row(self) -> Iterator[Finding]:
        before: tuple[int, str] | None = None
        for no, hash_, previous in self._kept.execute("SELECT no, hash, previous FROM anchor ORDER BY no"):
            if before is not None and no > before[0] + 1:
                yield _of_anchors(f"anchors {before[0] + 1} to {no - 1} are missing")
            elif before is not None and previous != before[1]:
                yield _of_anchors(f"anchor {no} does not follow from anchor {before[0]}")
            before = (no, hash_)


# Anchors after a number that neither lead to one (twice a parameter) nor follow from it.
_NOT_OF_ITS_LINE = """
WITH RECURSIVE leading(hash) AS (
    SELECT ? UNION SELECT a.previous FROM anchor a JOIN leading b ON a.hash = b.hash
), following(hash) AS (
    SELECT ? UNION SELECT a.hash FROM anchor a JOIN following b ON a.previous = b.hash
)
SELECT hash FROM anchor
WHERE no > ? AND hash NOT IN (SELECT hash FROM leading) AND hash NOT IN (SELECT hash FROM following)
"""
_SECOND_ONES = """
SELECT hash, no FROM anchor a WHERE EXISTS (SELECT 1 FROM anchor b WHERE b.no = a.no AND b.rowid < a.rowid) ORDER BY no
"""
_TOLD_OF = """
SELECT 1 FROM (SELECT *, lag(place) OVER (PARTITION BY tenant ORDER BY no) AS was FROM told) AS t
LEFT JOIN anchor prior ON prior.no = t.no - 1
WHERE (t.oldest >= ? AND t.oldest < ?) OR (prior.at >= ? AND t.at < ? AND t.place > coalesce(t.was, 0))
LIMIT 1
"""


def _newest() -> int:
    """Of the database's own."""
    return next((no for no, *_ in run("last_anchor", {})), 0)


def _loss(told: dict[str, Any] | None) -> str | None:
    if told is None:
        return None
    return json.dumps({"last_good": int(told["last_good"]), "by": str(told["by"]), "reason": str(told["reason"])})


def _head(one: dict[str, Any]) -> tuple[object, ...]:
    floor = int(one["floor"])
    return one["tenant"], int(one["place"]), one["hash"], floor, one["floor_hash"], one["oldest"]


def _of_anchors(words: str) -> Finding:
    return Finding(ANCHOR, None, None, None, words[0].upper() + words[1:] + ("" if words.endswith(".") else "."))
