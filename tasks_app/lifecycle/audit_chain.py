"""Gives each committed entry of the audit trail its place and hash; forgets the places of what was kept long enough.

Whoever acts writes an entry and waits for nobody. A chore comes after: it takes all that was committed since it last
looked, so an entry that was committed before that look never comes behind one that was committed after it.

A broken trail, whose last place is not what its head says, keeps no other trail from its places: its entries wait apart
until it is repaired.
"""

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from tasks_app.core.audit_chain import FIELDS, digest_of, link_hash, moment, parsed
from tasks_app.database import atomic
from tasks_app.sql import run
from tasks_app.storage.partitions import EVER, partitions

log = logging.getLogger(__name__)

AUDIT = "punctual_audit_entry"
CHUNK = 1_000  # entries in memory at a time
PART = 50_000  # of what one look has found, that one transaction gives their places
TRIM_STEP = 5_000
NAMED = 10  # broken trails, in the log


class Chained(NamedTuple):
    entries: int
    missing: int = 0  # that waited for a place and were not there any more
    busy: bool = False  # somebody else is at it
    skipped: int = 0  # of broken trails

    def __str__(self) -> str:
        if self.busy:
            return "another beat is at it"
        return f"{self.entries:,} entries" + (f", {self.skipped:,} skipped" if self.skipped else "")


class Head(NamedTuple):
    place: int
    hash: bytes


class Waiting(NamedTuple):
    entry: dict[str, object]
    digest: bytes


def chain(*, wait: bool = False) -> Chained:
    """Until nothing waits. Each part of it is all or nothing: whoever is killed in one has given no place there, and
    the next one to come goes on with the same look."""
    done = missing = skipped = 0
    while True:
        with atomic():
            if not lock_trails(wait=wait):
                return Chained(done, missing, busy=True, skipped=skipped)
            part = _chain_part()
        done, missing, skipped = done + part.entries, missing + part.missing, skipped + part.skipped
        if not part.more:
            return Chained(done, missing, skipped=skipped)


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
    ((locked,),) = run("lock_trails", {"wait": wait})
    return bool(locked)


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
    skipped: int = 0
    more: bool = True


def _chain_part() -> _Part:
    run("take_up_repaired", {})
    ((ids, looked_at, now),) = run("unchained", {"most": PART + 1})
    if looked_at is None and len(ids) > PART:
        run("note_look", {})
        return _Part()
    done = missing = skipped = 0
    heads: dict[str, Head | None] = {}
    for start in range(0, min(len(ids), PART), CHUNK):
        chunk = ids[start : min(start + CHUNK, PART)]
        found = _read(run("entries_to_chain", {"ids": chunk}))
        _know(heads, found)
        sound = [one for one in found if heads[trail_of(one.entry)] is not None]
        _skip([one for one in found if heads[trail_of(one.entry)] is None])
        _link(sound, heads, looked_at or now)
        done, skipped = done + len(sound), skipped + len(found) - len(sound)
        missing += _strike(chunk, found)
    _move(heads)
    return _Part(done, missing, skipped, more=looked_at is not None)  # later entries are found by the next round


def _read(rows: Sequence[Sequence[object]]) -> list[Waiting]:
    """Entries with a digest. Unreadable ones, such as arrays nested too deeply, have none."""
    found = []
    for row in rows:
        try:
            entry = entry_of(row)
            found.append(Waiting(entry, digest_of(entry)))
        except (RecursionError, ValueError, TypeError) as error:
            log.error("audit.entry_unreadable entry=%s: it gets no place: %s", row[0], error)
    return found


def _strike(ids: Sequence[int], found: Sequence[Waiting]) -> int:
    """What gets no place is told once. Returns how many of them are gone."""
    left = set(ids).difference(int(str(one.entry["id"])) for one in found)
    if not left:
        return 0
    gone: int
    ((gone, others),) = run("strike_waiting", {"ids": sorted(left)})
    if gone:
        log.error("audit.entries_missing count=%d: they were deleted before they had a place", gone)
    if others:
        log.error(
            "audit.entries_refused count=%d: others of these numbers have their places, or they can't be read; "
            "see audit verify",
            others,
        )
    return gone


def _skip(found: Sequence[Waiting]) -> None:
    if not found:
        return
    tenants = [trail_of(one.entry) for one in found]
    run("skip_entries", {"ids": [one.entry["id"] for one in found], "tenants": tenants})
    log.error("audit.trail_broken tenants=%s entries=%d: see audit verify", sorted(set(tenants))[:NAMED], len(found))


def _know(heads: dict[str, Head | None], found: Sequence[Waiting]) -> None:
    """Read the head of each trail; None if the trail is broken."""
    new = {trail_of(one.entry) for one in found} - heads.keys()
    for tenant, place, hash_, sound in run("heads", {"tenants": sorted(new)}) if new else ():
        heads[tenant] = Head(place, bytes(hash_)) if sound else None


def _link(found: Sequence[Waiting], heads: dict[str, Head | None], now: datetime) -> None:
    if not found:
        return
    names = ("tenants", "places", "entries", "ats", "digests", "hashes")
    columns: dict[str, list[object]] = {name: [] for name in names}
    for entry, digest in found:
        tenant = trail_of(entry)
        head = heads[tenant]
        assert head is not None
        at, place = str(entry["created_at"]), head.place + 1
        made = link_hash(tenant, place, head.hash, digest, int(str(entry["id"])), at, moment(now))
        heads[tenant] = Head(place, made)
        for name, value in zip(names, (tenant, place, entry["id"], at, digest, made), strict=True):
            columns[name].append(value)
    written = run("write_links", columns | {"chained_at": now})
    if len(written) != len(found):
        raise RuntimeError(f"{len(found) - len(written)} entries got their places from another process meanwhile")


def _move(heads: dict[str, Head | None]) -> None:
    sound = {tenant: head for tenant, head in heads.items() if head is not None}
    if not sound:
        return
    moved = run(
        "move_heads",
        {
            "tenants": list(sound),
            "places": [head.place for head in sound.values()],
            "hashes": [head.hash for head in sound.values()],
        },
    )
    if len(moved) != len(sound):
        raise RuntimeError(f"{len(sound) - len(moved)} trails went further meanwhile")
