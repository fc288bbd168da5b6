"""The form in which an entry of the audit trail is hashed, and how each hash follows from the one before.

The form is that of RFC 8785 (JSON Canonicalization Scheme): no white space, names in the order of their UTF-16 code
units, strings with the fewest escapes. Numbers differ from it: they are kept as exact as PostgreSQL's jsonb keeps them,
as decimals without an exponent and without zeros at the end of a fraction, since a double would change large ones.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from json.encoder import encode_basestring
from typing import Any

VERSION = 1
GENESIS = bytes(32)  # what the first entry of a trail follows
# Of an entry, all that there is; a test compares them with the columns of the table.
FIELDS = (
    *("id", "operation", "actor", "verb", "subject", "task_id", "tenant", "task_type", "outcome", "reason", "detail"),
    *("created_at", "address"),
)


_NESTED = (dict, list, tuple)


class Exact(str):
    """A number as it is written in JSON, to the last digit."""

    __slots__ = ()


def parsed(text: str) -> Any:
    """JSON whose numbers stay as they are written."""
    return json.loads(text, parse_float=Exact, parse_int=Exact, parse_constant=Exact)


class _Written(str):
    """What stands between values."""

    __slots__ = ()


def canonical(value: object) -> str:
    """Equal values have equal texts, different ones different texts. Without recursion, so depth has no limit."""
    done: list[str] = []
    left: list[Any] = [value]  # the next one last
    while left:
        one = left.pop()
        kind = type(one)
        if kind is _Written:
            done.append(one)
        elif kind is dict:
            names = sorted(one, key=None if all(map(str.isascii, one)) else _code_units)
            _add(done, left, "{}", [(f"{encode_basestring(name)}:", one[name]) for name in names])
        elif kind is list or kind is tuple:
            _add(done, left, "[]", [("", item) for item in one])
        else:
            done.append(_plain(one))
    return "".join(done)


def _add(done: list[str], left: list[object], ends: str, members: list[tuple[str, object]]) -> None:
    """Up to the first member that has members itself; it and what follows are left."""
    comma = ends[0]
    for number, (name, value) in enumerate(members):
        if type(value) in _NESTED:
            rest: list[object] = [_Written(comma + name), value]
            for name, value in members[number + 1 :]:
                rest += (_Written(f",{name}"), value)
            left += reversed([*rest, _Written(ends[1])])
            return
        done.append(f"{comma}{name}{_plain(value)}")
        comma = ","
    done.append(ends[1] if members else ends)


def _plain(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if value is None:
        return "null"
    if kind is Exact:
        return _number(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    raise TypeError(f"{kind.__name__} has no canonical form")


def digest_of(entry: Mapping[str, object]) -> bytes:
    """Of one entry: all FIELDS, its detail as `parsed` gave it, its time as `moment` wrote it."""
    return _sha256({"v": VERSION} | {name: entry[name] for name in FIELDS})


def link_hash(
    tenant: str, place: int, previous: bytes, digest: bytes, entry_id: int, at: str, chained_at: str
) -> bytes:
    """Of the place that an entry has in its tenant's trail: nobody can move it, or put another there, and keep this."""
    return _sha256(
        {
            "v": VERSION,
            "tenant": tenant,
            "place": place,
            "previous": previous.hex(),
            "entry": entry_id,
            "digest": digest.hex(),
            "at": at,
            "chained_at": chained_at,
        }
    )


def moment(at: datetime) -> str:
    """As the statements write it too: UTC, to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _sha256(value: Mapping[str, object]) -> bytes:
    return hashlib.sha256(canonical(value).encode()).digest()


def _code_units(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _number(text: str) -> str:
    if "e" in text or "E" in text or not text.lstrip("-")[:1].isdecimal():
        raise ValueError(f"{text[:40]!r} is no number as PostgreSQL's jsonb writes it")
    whole, point, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    found = f"{whole}.{fraction}" if point and fraction else whole
    return "0" if found == "-0" else found
