"""The registry of compensation scans: each app compares its own rows with their tasks, and says what it found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from .errors import InvalidConfiguration


class Finding(StrEnum):
    REPAIRED = "repaired"
    REPAIRABLE = "repairable"  # a dry run saw it, and a real one would repair it
    NEEDS_PERSON = "needs a person"  # a decision of a person, or a failure that a person has to look at


@dataclass(frozen=True, slots=True)
class Found:
    """One row that is not as it should be."""

    kind: str  # what is wrong, in a few words; the same for all of its kind
    key: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Walked:
    """Progress: so many more rows were looked at."""

    rows: int


Scan = Callable[[bool], Iterable[Found | Walked]]


class Scans:
    def __init__(self) -> None:
        self._scans: dict[str, Scan] = {}

    def add(self, name: str, scan: Scan) -> None:
        known = self._scans.get(name)
        if known is not None and known is not scan:
            raise InvalidConfiguration(f"compensation scan {name!r} is registered twice. Rename one.")
        self._scans[name] = scan

    def discard(self, name: str) -> None:
        self._scans.pop(name, None)

    def __iter__(self) -> Iterator[tuple[str, Scan]]:
        return iter(list(self._scans.items()))

    def names(self) -> list[str]:
        return sorted(self._scans)


SCANS = Scans()
