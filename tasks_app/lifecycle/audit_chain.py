"""Gives each committed entry of the audit trail its place and hash; forgets the places of what was kept long enough.

Whoever acts writes an entry and waits for nobody. A chore comes after: it takes all that was committed since it last
looked, so an entry that was committed before that look never comes behind one that was committed after it.
"""

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from tasks_app.core.audit_chain import FIELDS, GENESIS, digest_of, link_hash, moment, parsed
from tasks_app.database import atomic
from tasks_app.sql import run
from tasks_app.storage.partitions import EVER, partitions

log = logging.getLogger(__name__)

AUDIT = "punctual_audit_entry"
CHUNK = 1_000  # entries in memory at a time
PART = 50_000  # of what one look has found, that one transaction gives their places
TRIM_STEP = 5_000


class Chained(NamedTuple):
    entries: int
    missing: int = 0  # that waited for a place and were not there any more
    busy: bool = False  # somebody else is at it

    def __str__(self) -> str:
        return "another beat is at it" if self.busy else f"{self.entries:,} entries"


class Head(NamedTuple):
    place: int
    hash: bytes


def chain(*, wait: bool = False) -> Chained:
    """Until nothing waits. Each part of it is all or nothing: whoever is killed in one has given no place there, and
    the next one to come goes on with the same look."""
    done = missing = 0
    while True:
        with atomic():
            if not lock_trails(wait=wait):
                return Chained(done, missing, busy=True)
            part = _chain_part()
        done, missing = done + part.entries, missing + part.missing
        if not part.more:
            return Chained(done, missing)


def trim() -> int:
    """After months were dropped: of each trail, the places at its beginning. Returns how many."""
    there = partitions(AUDIT)
    if not there or there[0].since == EVER:
        return 0
    with atomic():
        if not lock_trails(wait=False):
            return 0
        return len(run("trim_trails", {"before": there[0].since, "step": TRIM_STEP}))


def lock_trails(*, wait: bool) -> bool:
    """Until the end of the transaction."""
    return run("lock_trails", {"wait": wait})[0][0]


def entry_of(row: Sequence[object]) -> dict[str, object]:
    """A row of entry_columns, as it is hashed."""
    entry = dict(zip(FIELDS, row, strict=True))
    if isinstance(entry["detail"], str):
        entry["detail"] = parsed(entry["detail"])
    return entry


def trail_of(entry: dict[str, object]) -> str:
    return str(entry["tenant"] or "")


class _Part(NamedTuple):
    entries: int = 0
    missing: int = 0
    more: bool = True


def _chain_part() -> _Part:
    ((ids, looked_at, now),) = run("unchained", {"most": PART + 1})
    if looked_at is None and len(ids) > PART:
        run("note_look", {})
        return _Part()
    done = missing = 0
    heads: dict[str, Head] = {}
    for start in range(0, min(len(ids), PART), CHUNK):
        chunk = ids[start : min(start + CHUNK, PART)]
        entries = [entry_of(row) for row in run("entries_to_chain", {"ids": chunk})]
        _link(entries, heads, looked_at or now)
        done, missing = done + len(entries), missing + _strike(chunk, entries)
    if heads:
        _move(heads)
    return _Part(done, missing, more=looked_at is not None)  # what came after that look is found by the next


def _strike(ids: Sequence[int], entries: list[dict[str, object]]) -> int:
    """What gets no place is told once. Returns how many of them are gone."""
    left = set(ids).difference(int(str(entry["id"])) for entry in entries)
    if not left:
        return 0
    ((gone, twice),) = run("strike_waiting", {"ids": sorted(left)})
    if gone:
        log.error("audit.entries_missing count=%d: they were deleted before they had a place", gone)
    if twice:
        log.error("audit.entries_twice count=%d: others of these numbers have their places; see audit verify", twice)
    return gone


def _link(entries: list[dict[str, object]], heads: dict[str, Head], now: datetime) -> None:
    new = {trail_of(entry) for entry in entries} - heads.keys()
    known = {tenant: Head(place, bytes(hash_)) for tenant, place, hash_ in run("heads", {"tenants": sorted(new)})}
    heads.update({tenant: known.get(tenant, Head(0, GENESIS)) for tenant in new})
    names = ("tenants", "places", "entries", "ats", "digests", "hashes")
    columns: dict[str, list] = {name: [] for name in names}
    for entry in entries:
        tenant, digest = trail_of(entry), digest_of(entry)
        at, place = str(entry["created_at"]), heads[tenant].place + 1
        found = link_hash(tenant, place, heads[tenant].hash, digest, int(str(entry["id"])), at, moment(now))
        heads[tenant] = Head(place, found)
        for name, value in zip(names, (tenant, place, entry["id"], at, digest, found), strict=True):
            columns[name].append(value)
    written = run("write_links", columns | {"chained_at": now})
    if len(written) != len(entries):
        raise RuntimeError(f"{len(entries) - len(written)} entries got their place from somebody else meanwhile")


def _move(heads: dict[str, Head]) -> None:
    moved = run(
        "move_heads",
        {
            "tenants": list(heads),
            "places": [head.place for head in heads.values()],
            "hashes": [head.hash for head in heads.values()],
        },
    )
    if len(moved) != len(heads):
        raise RuntimeError(f"{len(heads) - len(moved)} trails went further meanwhile")
