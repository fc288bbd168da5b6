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
TRIM_STEP = 5_000


class Chained(NamedTuple):
    entries: int
    missing: int = 0  # that wait for a place and are not there any more
    busy: bool = False  # somebody else is at it

    def __str__(self) -> str:
        return "another beat is at it" if self.busy else f"{self.entries:,} entries"


class Head(NamedTuple):
    place: int
    hash: bytes


def chain(*, wait: bool = False) -> Chained:
    """All or nothing: whoever is killed half way has given no place."""
    done = missing = 0
    with atomic():
        if not lock_trails(wait=wait):
            return Chained(0, busy=True)
        ((ids, now),) = run("unchained", {})
        heads: dict[str, Head] = {}
        for start in range(0, len(ids), CHUNK):
            chunk = ids[start : start + CHUNK]
            entries = [entry_of(row) for row in run("entries_to_chain", {"ids": chunk})]
            _link(entries, heads, now)
            done, missing = done + len(entries), missing + len(chunk) - len(entries)
        if heads:
            _move(heads)
    if missing:
        log.error("audit.entries_missing count=%d: they were deleted before they had a place", missing)
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
