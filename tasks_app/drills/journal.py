"""What happened, outside of the database: files that are only appended to, and survive whoever writes them."""

from __future__ import annotations

import os
from pathlib import Path

_open: dict[tuple[int, str], int] = {}


def append(folder: str, name: str, line: str, *, durable: bool = False) -> None:
    """Add a line; if `durable`, it is on the disk when this returns."""
    place = (os.getpid(), f"{folder}/{name}")
    if place not in _open:
        _open[place] = os.open(place[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    # O_APPEND and one write: lines of many processes don't mix, and one that is killed leaves no half line.
    os.write(_open[place], line.encode() + b"\n")
    if durable:
        os.fsync(_open[place])


class Reader:
    """What was added since it was last read."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0

    def lines(self) -> list[str]:
        try:
            with self._path.open("rb") as file:
                file.seek(self._at)
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self._at += len(whole)
        return whole.decode().splitlines()
