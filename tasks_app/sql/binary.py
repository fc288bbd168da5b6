"""Arrays in PostgreSQL's binary form, as its array_recv takes them: nobody has to quote, write out or parse a value."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from struct import Struct, pack
from typing import Any, TypeVar
from uuid import UUID

import psycopg

_HEAD, _HEAD_OF_NONE, _LENGTH = Struct("!iiIii"), Struct("!iiI"), Struct("!i")
_NULL = _LENGTH.pack(-1)
_ZERO, _MICROSECOND = datetime(2000, 1, 1, tzinfo=UTC), timedelta(microseconds=1)  # what a timestamptz counts
_UUID_BYTES = 16


class BinaryArray(bytes):
    """A parameter; psycopg tells by its class what the elements are."""

    element = ""  # PostgreSQL's name of their type
    read: Callable[..., object] = bytes


class BytesArray(BinaryArray):
    element = "bytea"


class TextArray(BinaryArray):
    element = "text"
    read = bytes.decode


class InstantArray(BinaryArray):
    element = "timestamptz"

    @staticmethod
    def read(value: bytes) -> datetime:
        return _ZERO + int.from_bytes(value, signed=True) * _MICROSECOND


class SmallintArray(BinaryArray):
    element = "int2"
    read = partial(int.from_bytes, signed=True)


class BigintArray(BinaryArray):
    element = "int8"
    read = partial(int.from_bytes, signed=True)


class UuidArray(BinaryArray):
    element = "uuid"

    @staticmethod
    def read(value: bytes) -> UUID:
        return UUID(bytes=value)


A = TypeVar("A", bound=BinaryArray)


def bytes_array(values: Sequence[bytes | None]) -> BytesArray:
    """Some may be None. Of a list of bytes, psycopg makes a text twice as long."""
    return _of_any_length(BytesArray, values)


def utf8_array(values: Sequence[bytes | None]) -> TextArray:
    """Texts, encoded; some may be None."""
    return _of_any_length(TextArray, values)


def instant_array(values: Sequence[datetime | None]) -> InstantArray:
    """Aware datetimes, some of which may be None."""
    since: Callable[[Any, datetime], timedelta] = datetime.__sub__  # an app's own class may have another
    if None in values:
        packed = [None if one is None else pack("!q", since(one, _ZERO) // _MICROSECOND) for one in values]
        return _of_any_length(InstantArray, packed)
    return _of_numbers(InstantArray, 8, "q", [since(one, _ZERO) // _MICROSECOND for one in values])


def smallint_array(values: Sequence[int]) -> SmallintArray:
    return _of_numbers(SmallintArray, 2, "h", values)


def bigint_array(values: Sequence[int]) -> BigintArray:
    return _of_numbers(BigintArray, 8, "q", values)


def uuid_array(uuids: bytes) -> UuidArray:
    """One after the other."""
    count, step = len(uuids) // _UUID_BYTES, _LENGTH.size + _UUID_BYTES
    elements = bytearray(_LENGTH.pack(_UUID_BYTES).ljust(step, b"\0") * count)
    for place in range(_UUID_BYTES):
        elements[_LENGTH.size + place :: step] = uuids[place::_UUID_BYTES]
    return UuidArray(_head(UuidArray, count) + elements)


def register(adapters: psycopg.adapt.AdaptersMap) -> None:
    for array, dumper in _DUMPERS:
        adapters.register_dumper(array, dumper)


class _Dumper(psycopg.adapt.Dumper):
    format = psycopg.pq.Format.BINARY

    def dump(self, obj: BinaryArray) -> BinaryArray:
        return obj


class _Written(_Dumper):
    """For a statement with its parameters in it, as Django logs it."""

    format = psycopg.pq.Format.TEXT

    def quote(self, obj: BinaryArray) -> bytes:
        return psycopg.sql.Literal(_values(obj)).as_bytes(self.connection)


_DUMPERS = [
    (array, type(f"{array.__name__}Dumper", (dumper,), {"oid": psycopg.postgres.types[array.element].array_oid}))
    for array in (BytesArray, TextArray, InstantArray, SmallintArray, BigintArray, UuidArray)
    for dumper in (_Written, _Dumper)  # psycopg takes the last unless it is asked for text
]


def _values(array: BinaryArray) -> list[object]:
    found, place = [], _HEAD.size
    while place < len(array):
        (length,) = _LENGTH.unpack_from(array, place)
        place += _LENGTH.size
        found.append(None if length < 0 else type(array).read(bytes(array[place : place + length])))
        place += max(0, length)
    return found


def _head(array: type[BinaryArray], count: int) -> bytes:
    oid = psycopg.postgres.types[array.element].oid
    return _HEAD.pack(1, 1, oid, count, 1) if count else _HEAD_OF_NONE.pack(0, 0, oid)


def _of_any_length(array: type[A], values: Sequence[bytes | None]) -> A:
    length, parts = _LENGTH.pack, [_head(array, len(values))]
    for value in values:
        parts += (_NULL,) if value is None else (length(len(value)), value)
    return array(b"".join(parts))


def _of_numbers(array: type[A], width: int, code: str, values: Sequence[int]) -> A:
    mixed = [width] * (2 * len(values))
    mixed[1::2] = values
    return array(_head(array, len(values)) + pack("!" + f"i{code}" * len(values), *mixed))
