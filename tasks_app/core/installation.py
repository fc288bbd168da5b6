"""What tells the database of an installation from a copy of it: what is known, what is found, and what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .networks import Network, contains

# A standby counts as registered if it streamed within so long of the last sign of life.
STANDBY_SECONDS = 86_400.0
FORGET_STANDBY_SECONDS = 7 * STANDBY_SECONDS  # one that has not streamed for so long is forgotten
LOCAL = "this machine"  # the address of a server that is reached through a socket of the file system


@dataclass(frozen=True, slots=True)
class Facts:
    """What a server says about itself; None or empty: it doesn't tell us."""

    system: int | None  # from initdb: a standby and a base backup have the same, a restored dump another
    database: int | None  # its oid: a dump that is restored beside the original has another
    timeline: int | None  # a new one with every promotion and every restore to a point in time
    directory: str = ""
    cluster: str = ""  # cluster_name
    address: str = ""  # the server's own, whatever proxy leads to it; empty: a socket of the file system
    standby: bool = field(default=False, compare=False)  # it takes no writes, so this is never noted

    def filled_with(self, other: "Facts") -> "Facts":
        """What is not known yet is taken from the other."""
        return Facts(*(getattr(self, name) or getattr(other, name) for name in self.__slots__))

    def as_json(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "standby"}

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "Facts":
        return cls(**{name: kept[name] for name in cls.__slots__ if name in kept})


@dataclass(frozen=True, slots=True)
class Known:
    """What was noted when the database was last seen well."""

    facts: Facts | None = None  # None: nobody has looked yet
    silent_seconds: float | None = None  # since the last sign of life
    standbys: Mapping[str, float] = field(default_factory=dict)  # address: seconds since it was last seen to stream


@dataclass(frozen=True, slots=True)
class Limits:
    """What the settings say about it."""

    failover_seconds: float
    networks: Sequence[Network] = ()  # where our databases may be; empty: anywhere


class Finding(StrEnum):
    NEW = "new"  # nothing was noted yet
    SAME = "same"
    PROMOTED = "promoted"  # a standby of ours is the primary now
    COPY = "copy"  # or it can't be told from one


@dataclass(frozen=True, slots=True)
class Found:
    finding: Finding
    reason: str = ""


def compare(known: Known, now: Facts, limits: Limits) -> Found:
    """What this database is, by what was noted in it. What either side doesn't tell is not compared."""
    was = known.facts
    if was is None:
        return Found(Finding.NEW)
    if _differ(was.system, now.system):
        return _copy(
            f"the rows come from server {was.system}, and this is server {now.system}: a dump was restored, the rows "
            "were replicated to another server, or pg_upgrade made a new one"
        )
    if _differ(was.database, now.database):
        return _copy(
            "the rows come from another database of this server: a dump of it was restored here, or it was a template"
        )
    if _differ(was.timeline, now.timeline):
        return _another_timeline(known, was, now, limits)
    if was.timeline is not None and now.timeline is None:
        return Found(Finding.SAME)  # it is, or just was, in recovery: nothing can be concluded yet
    if was.directory and now.directory and was.directory != now.directory:
        return _copy(f"its files were in {was.directory}, and are in {now.directory} now: they were copied or moved")
    if was.cluster and now.cluster and was.cluster != now.cluster:
        return _copy(f"cluster_name was {was.cluster!r}, and is {now.cluster!r} now")
    if limits.networks and now.address and not contains(limits.networks, now.address):
        return _copy(f'it answers at {now.address}, which is not in PUNCTUAL["DATABASE_ADDRESSES"]')
    return Found(Finding.SAME)


def _another_timeline(known: Known, was: Facts, now: Facts, limits: Limits) -> Found:
    """A promoted standby and a restore to a point in time look alike, but for where they are and how long it took."""
    switched = f"its timeline was {was.timeline}, and is {now.timeline} now"
    where = now.address or LOCAL
    if not _registered(known, now.address, limits.networks):
        return _copy(
            f"{switched}: a standby was promoted or a backup restored, and none of its standbys was known at {where}"
        )
    if known.silent_seconds is None or known.silent_seconds > limits.failover_seconds:
        silent = "unknown" if known.silent_seconds is None else f"{known.silent_seconds:.0f} s ago"
        return _copy(
            f"{switched}, and its last sign of life was {silent}; a failover takes no longer than "
            f'PUNCTUAL["FAILOVER_SECONDS"], {limits.failover_seconds:g} s'
        )
    return Found(Finding.PROMOTED, f"{switched}: the standby at {where} was promoted")


def _registered(known: Known, address: str, networks: Sequence[Network]) -> bool:
    if address and contains(networks, address):
        return True
    streamed = known.standbys.get(address)
    return streamed is not None and streamed - (known.silent_seconds or 0.0) <= STANDBY_SECONDS


def _copy(words: str) -> Found:
    return Found(Finding.COPY, f"This database may be a copy: {words}.")


def _differ(was: int | None, now: int | None) -> bool:
    return was is not None and now is not None and was != now
