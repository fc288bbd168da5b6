"""Reads products from a CSV file, line by line: what is wrong with one is said with its number, and the rest goes on.

Columns by their names in the first line: code and name; and, if a product was synced before, quantity and synced_at
(ISO 8601 with a time zone).
"""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from .errors import InvalidProduct
from .lifecycle import NewProduct

REQUIRED, OPTIONAL = ("code", "name"), ("quantity", "synced_at")
LONGEST_VALUE = 50  # lines; a quote that is not closed by then never is


class BadLine(NamedTuple):
    number: int
    reason: str


def read_products(lines: Iterable[str]) -> Iterator[NewProduct | BadLine]:
    """Every line as a product or as what is wrong with it; raises InvalidProduct if the first line has no names."""
    records = _records(lines)
    _, names = next(records, (1, []))
    columns = _columns(names)
    for number, values in records:
        if isinstance(values, str):
            yield BadLine(number, values)
        elif values:
            yield _product(columns, values, number)


def _records(lines: Iterable[str]) -> Iterator[tuple[int, list[str] | str]]:
    """The values of each line, or what is wrong with it, and its number.

    A quote that is never closed would make the lines after it a part of its value; they are read for themselves.
    """
    again: list[str] = []
    lines, number = iter(lines), 0
    while (line := again.pop() if again else next(lines, None)) is not None:
        number += 1
        if number == 1:
            line = line.removeprefix("\ufeff")
        if not _is_utf8(line):
            yield number, "is not in UTF-8"
            continue
        if '"' not in line:  # nearly all, and in a tenth of the time
            yield number, bare.split(",") if (bare := line.rstrip("\r\n")) else []
            continue
        try:
            yield number, next(csv.reader((line,), strict=True))
        except csv.Error as error:
            following = [*reversed(again), *islice(lines, max(0, LONGEST_VALUE - len(again)))]
            more = _lines_of_value(line, following)
            yield number, f"has a value that spans {1 + more} lines" if more else f"is not CSV: {error}"
            again, number = following[more:][::-1], number + more


def _is_utf8(line: str) -> bool:
    """Bytes that are not were read as halves of characters."""
    try:
        return line.isascii() or bool(line.encode())
    except UnicodeEncodeError:
        return False


def _lines_of_value(line: str, following: list[str]) -> int:
    """Into how many of the following lines a quoted value goes on, if it ends there as it should."""
    reader = csv.reader([line, *following], strict=True)
    try:
        next(reader)
    except csv.Error:
        return 0
    return reader.line_num - 1


def _columns(names: list[str] | str) -> list[str]:
    if isinstance(names, str):
        raise InvalidProduct(f"line 1 {names}")
    columns = [name.strip().lower() for name in names]
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
        raise InvalidProduct(f"quantity {text[:40]!r} is not a whole number of 0 or more")
    return int(text)


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidProduct(f"synced_at {text[:40]!r} is not a time such as 2027-03-01T09:00:00+01:00") from None
