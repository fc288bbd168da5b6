"""The audit trail as lines of JSON that can be checked without the database: each entry with its place and hashes, and
a last line that signs all before it."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from tasks_app.core.audit_chain import FIELDS, VERSION, canonical, digest_of, link_hash, moment, parsed
from tasks_app.core.audit_keys import AuditKey, AuditKeys
from tasks_app.lifecycle.audit_anchor import signed
from tasks_app.lifecycle.audit_chain import entry_of
from tasks_app.sql import run

from .audit_verify import kept_from

KIND, END = "punctual-audit-export", "punctual-audit-export-end"
STEP = 1_000


class _End(NamedTuple):
    """The last line of an export."""

    entries: int
    sha256: str
    key_id: str
    signature: str | None
    signed: bytes


def export(
    key: AuditKey | None, tenant: str | None = None, since: datetime | None = None, until: datetime | None = None
) -> Iterator[str]:
    """Trail by trail, in the order of commit, a stretch in memory at a time. What has no place yet is not in it; a
    place whose entry is gone is, without it."""
    entries, digest = 0, hashlib.sha256()
    head = {"v": VERSION, "kind": KIND, "at": moment(run("clock", {})[0][0]), "tenant": tenant}
    head |= {"since": since and moment(since), "until": until and moment(until)}
    head |= {"key": key.id, "public": key.public_text} if key else {}
    for number, told in enumerate(chain([head], _entries(tenant, head["since"], head["until"]))):
        line, entries = _in_ascii(canonical(told)), number
        digest.update(line.encode() + b"\n")
        yield line
    end = {"v": VERSION, "kind": END, "entries": entries, "sha256": digest.hexdigest()}
    yield signed(end | {"key": key.id}, key) if key else canonical(end)


def problems_of_export(lines: Iterable[str], keys: AuditKeys) -> Iterator[str]:
    """A sentence for each thing that is wrong with an export; streamed."""
    digest, entries, whole = hashlib.sha256(), 0, False
    end: _End | None = None
    last: dict[str, tuple[int, str]] = {}
    for number, line in enumerate((line.rstrip("\n") for line in lines), start=1):
        if end is not None:
            yield f"Line {number}: there is something after the end."
            return
        try:
            told: dict[str, Any] = parsed(line)
            kind = told.get("kind")
            if kind == END:
                end = _end_of(told)
                continue
            digest.update(line.encode() + b"\n")
            if kind == KIND:
                whole = told["since"] is None and told["until"] is None
                continue
            entries += 1
            yield from (f"Line {number}: {words}" for words in _wrong(told, last, whole))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield f"Line {number} is not one of an export."
            return
    if end is None:
        yield "It has no end: it was cut off, or is not an export."
        return
    if end.entries != entries or end.sha256 != digest.hexdigest():
        yield "The lines are not those that were exported: some were changed, removed, added or reordered."
    key = keys.get(end.key_id)
    if end.signature is None:
        yield "It is not signed."
    elif key is None:
        yield f'It is signed with the key {end.key_id}, which is unknown here; PUNCTUAL["AUDIT_KEYS"] lacks it.'
    elif not key.has_signed(end.signature, end.signed):
        yield f"Its end is not what the key {key.id} has signed."


def _end_of(told: dict[str, Any]) -> _End:
    signature, entries, sha256 = told.pop("signature", None), int(told["entries"]), str(told["sha256"])
    key_id, text = str(told.get("key")), canonical(told).encode()
    return _End(entries, sha256, key_id, None if signature is None else str(signature), text)


def _entries(tenant: str | None, since: object, until: object) -> Iterator[dict[str, object]]:
    dropped_before = kept_from() or ""
    for name, last in _trails(tenant):
        after = 0
        while rows := run("links_after", {"tenant": name, "after": after, "until": last, "step": STEP}):
            for place, entry, at, digest, hash_, chained_at, *columns in rows:
                after = place
                if (since and at < since) or (until and at >= until):
                    continue
                told = {
                    "trail": name,
                    "place": place,
                    "digest": bytes(digest).hex(),
                    "hash": bytes(hash_).hex(),
                    "chained_at": chained_at,
                }
                if columns[0] is None:
                    yield told | {"entry": None, "id": entry, "at": at, "dropped": at < dropped_before}
                else:
                    yield told | {"entry": entry_of(columns)}


def _in_ascii(line: str) -> str:
    """So that no terminal finds something to obey in it, and no editor something to mend."""
    return re.sub(r"[^ -~]", lambda found: json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f"), line)


def _trails(tenant: str | None) -> Iterator[tuple[str, int]]:
    if tenant is not None:
        yield from ((row[0], row[1]) for row in run("trail_row", {"tenant": tenant}))
        return
    after, first = "", True
    while rows := run("trail_rows", {"after": after, "first": first, "step": STEP}):
        yield from ((row[0], row[1]) for row in rows)
        after, first = rows[-1][0], False


def _wrong(told: dict[str, Any], last: dict[str, tuple[int, str]], whole: bool) -> Iterator[str]:
    """`whole`: nothing was left out for its time."""
    entry, place, trail = told["entry"], int(told["place"]), told["trail"]
    if entry is None:
        written = (int(told["id"]), told["at"])
        if told["dropped"] is not True:
            yield f"entry {told['id']} was gone when this was exported, though its month was not dropped."
    else:
        written = (int(entry["id"]), entry["created_at"])
        if digest_of({name: entry[name] for name in FIELDS}).hex() != told["digest"]:
            yield f"entry {entry['id']} is not what was written."
    before = last.get(trail)
    last.clear()  # trails come one after another
    last[trail] = (place, told["hash"])
    if before is None:
        return
    if before[0] + 1 == place:
        hashes = (bytes.fromhex(before[1]), bytes.fromhex(told["digest"]))
        if link_hash(trail, place, *hashes, *written, told["chained_at"]).hex() != told["hash"]:
            yield f"place {place} does not follow from the one before."
    elif whole:
        yield f"places {before[0] + 1} to {place - 1} were gone when this was exported."
