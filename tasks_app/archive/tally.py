"""Rows as three numbers that PostgreSQL and Arrow both can add up: how many, and of their keys two sums."""

from typing import NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from tasks_app.sql import run

WHOLE = 2**64
PRIME = 2_147_483_647  # the square of a rest fits into 64 bits


class Tally(NamedTuple):
    rows: int = 0
    total: int = 0
    squares: int = 0

    def plus(self, other: "Tally") -> Self:
        total, squares = (self.total + other.total) % WHOLE, (self.squares + other.squares) % WHOLE
        return type(self)(self.rows + other.rows, total, squares)


def tally_of(keys: pa.ChunkedArray) -> Tally:
    numbers = keys.cast(pa.int64())
    rests = pc.subtract(numbers, pc.multiply(pc.divide(numbers, PRIME), PRIME))
    total, squares = (pc.sum(values).as_py() or 0 for values in (numbers, pc.multiply(rests, rests)))
    return Tally(len(keys), total % WHOLE, squares % WHOLE)


def tally_of_partition(name: str, key: str) -> Tally:
    return Tally(*map(int, run("tally", {"name": name, "key": key})[0]))
