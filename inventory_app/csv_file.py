"""Reads products from a CSV file, line by line: what is wrong with one is said with its number, and the rest goes on.

Columns by their names in the first line: code and name; and, if a product was synced before, quantity and synced_at
(ISO 8601 with a time zone).
"""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from .errors import InvalidProduct
from .lifecycle import NewProduct

REQUIRED, OPTIONAL = ("code", "name"), ("quantity", "synced_at")


class BadLine(NamedTuple):
    number: int
    reason: str


def read_products(lines: Iterable[str]) -> Iterator[NewProduct | BadLine]:
    """Every line as a product or as what is wrong with it; raises InvalidProduct if the first line has no names."""
    reader = csv.reader(lines, strict=True)
    try:
        columns = _columns(next(reader, []))
    except csv.Error as error:
        raise InvalidProduct(f"line 1: {error}") from None
    while True:
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield BadLine(reader.line_num, f"is no CSV: {error}")
            continue
        if values:
            yield _product(columns, values, reader.line_num)


def _columns(names: list[str]) -> list[str]:
    columns = [name.strip().lstrip("\ufeff").lower() for name in names]
    missing = [name for name in REQUIRED if name not in columns]
    unknown = [name for name in columns if name not in REQUIRED + OPTIONAL]
    if missing or unknown or len(set(columns)) != len(columns):
        raise InvalidProduct(
            f"the first line is {','.join(names)[:200]!r}; it must name the columns: code,name and, if there are sync "
            "dates, quantity,synced_at."
        )
    return columns


def _product(columns: list[str], values: list[str], number: int) -> NewProduct | BadLine:
    if len(values) != len(columns):
        return BadLine(number, f"has {len(values)} values instead of {len(columns)}")
    given = dict(zip(columns, (value.strip() for value in values), strict=True))
    try:
        return NewProduct.of(
            given["code"], given["name"], _quantity(given.get("quantity", "")), _time(given.get("synced_at", ""))
        )
    except InvalidProduct as error:
        return BadLine(number, str(error))


def _quantity(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise InvalidProduct(f"quantity {text[:40]!r} is no whole number, 0 or more")
    return int(text)


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidProduct(f"synced_at {text[:40]!r} is no time such as 2027-03-01T09:00:00+01:00") from None
