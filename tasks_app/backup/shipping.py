"""Takes the log from the spool to one place: complete segments whole, and of the one in the making what is new."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from pathlib import Path

from tasks_app.core.wal import PAGE, Piece, is_history, piece_of, segment_of, written

from .base import bases_in
from .errors import BackupError
from .places import FAULTS, Store, unwrap, wrap

logger = logging.getLogger(__name__)

FOLDER = "wal"
PACKED = ".zst"
PARTIAL = ".partial"  # what pg_receivewal calls a segment that it has not all of
MOST_PIECES = 64  # of a segment; then they are made one
AWAY_SECONDS = 2.0  # a place that failed is not asked again for so long


class Foreign(BackupError):
    """The place has another server's log under our names."""


@dataclass(slots=True)
class Growing:
    """What a place has of a segment that is not complete."""

    pieces: list[Piece] = field(default_factory=list)
    until: int = 0  # bytes that are there, whole pages
    last: bytes = b""  # the last of them, as it was


class Shipper:
    """One for each place, so that one that hangs holds no other up. `run_once` is all it does."""

    def __init__(self, store: Store, spool: Path, segment_bytes: int) -> None:
        self.store = store
        self.error = ""
        self.position: int | None = None  # up to which the log is there, unless there is a hole
        self.hole = False  # it was away, and lacks something that the spool no longer has
        self.whole: set[str] | None = None  # segments and histories that the place has; None: not known yet
        self._spool = spool
        self._size = segment_bytes
        self._growing: dict[str, Growing] = {}
        self._compared: set[str] = set()
        self._has_folder = False
        self.rounds = 0  # in which all that there was has been taken there
        self._ask_again = self._look_again = 0.0

    @property
    def known(self) -> set[str] | None:
        """What the place has and is what we would have written; None: it doesn't answer."""
        whole = self.whole
        return None if whole is None else whole & self._compared

    def run_once(self) -> int:
        """Bytes that were taken there. A place that is away is only noted: the log waits in the spool."""
        if time.monotonic() < self._ask_again:
            return 0
        try:
            done = self._ship()
        except (*FAULTS, BackupError, KeyError, ValueError) as error:
            self._fail(error)
            return 0
        if self.error:
            logger.info("backup.place_back place=%s", self.store.label)
        self.error = ""
        self.rounds += 1
        return done

    def _ship(self) -> int:
        if self.whole is None or (self.hole and time.monotonic() >= self._look_again):
            self.whole = self._look()
        done = 0
        for name, complete in spooled(self._spool, self._size):
            if name not in self.whole:
                done += self._ship_whole(name) if complete else self._ship_growth(name)
            elif complete and name not in self._compared:
                self._compare(name)
        return done

    def _compare(self, name: str) -> None:
        """What the place had before we came must be what we would have written."""
        ours, theirs = (self._spool / name).read_bytes(), segment_in(self.store, name, self._size)
        if ours != theirs:
            raise Foreign(
                f"{self.store.label} has another log under the name {name}: a second server that was restored from the "
                "same backup writes there, or did. Give this one places of its own"
            )
        self._done(name)

    def _done(self, name: str) -> None:
        assert self.whole is not None
        self.whole.add(name)
        self._compared.add(name)
        if segment := segment_of(name, self._size):
            self.position = max(self.position or 0, segment.end)

    def _look(self) -> set[str]:
        """What the place has already, and of which segments there are pieces."""
        whole, self._growing = set(), {}
        for name, _ in self.store.names(FOLDER):
            if piece := piece_of(name):
                self._growing.setdefault(piece.segment, Growing()).pieces.append(piece)
            else:
                whole.add(name.removesuffix(PACKED))
        self.hole = has_hole(self.store, self._spool, self._size)
        self._look_again = time.monotonic() + AWAY_SECONDS
        return whole

    def _ship_whole(self, name: str) -> int:
        data = _read(self._spool / name, 0, self._size)
        if data is None:
            return 0  # all the others had it, and it left the spool while we looked
        if is_history(name):
            self._write(name, data)
        else:
            self._write(f"{name}{PACKED}", wrap(data))
        self._done(name)
        for piece in self._growing.pop(name, Growing()).pieces:
            self.store.delete(f"{FOLDER}/{piece.name}")
        return len(data)

    def _ship_growth(self, name: str) -> int:
        segment = segment_of(name, self._size)
        assert segment is not None
        growing, path = self._growing.setdefault(name, Growing()), self._spool / (name + PARTIAL)
        since = max(0, growing.until - PAGE)  # the last page may have grown
        data = _read(path, since, self._size)
        if data is None:
            return 0  # complete by now: the next round has it
        pages, end = written(data, segment.begin + since)
        until, reached, data = since + pages, segment.begin + since + end, data[:pages]
        grown = bool(pages) and (until > growing.until or data[-PAGE:] != growing.last)
        if grown:
            if len(growing.pieces) >= MOST_PIECES:
                since, data = 0, _read(path, 0, until) or b""
            self._put(growing, Piece(name, since + len(data), since), data)
        if pages:
            self.position = max(self.position or 0, reached)
        return len(data) if grown else 0

    def _put(self, growing: Growing, piece: Piece, data: bytes) -> None:
        self._write(piece.name, wrap(data))
        if piece.since == 0:  # it has all that the others have
            for other in growing.pieces:
                if other != piece:
                    self.store.delete(f"{FOLDER}/{other.name}")
            growing.pieces = []
        if piece not in growing.pieces:
            growing.pieces.append(piece)
        growing.until, growing.last = piece.until, data[-PAGE:]

    def _write(self, name: str, data: bytes) -> None:
        self.store.put(f"{FOLDER}/{name}", data, new_folder=not self._has_folder)
        self._has_folder = True

    def _fail(self, error: Exception) -> None:
        if not self.error:
            logger.warning("backup.place_away place=%s error=%s", self.store.label, error)
        self.error = str(error).rstrip(".")
        self.whole, self.position = None, None  # whoever comes back may be another disk
        self._compared, self._has_folder = set(), False
        self._ask_again = time.monotonic() + AWAY_SECONDS


def spooled(spool: Path, size: int) -> list[tuple[str, bool]]:
    """What has arrived, in order; and whether it is complete."""
    found = []
    for path in spool.iterdir():
        name = path.name.removesuffix(PARTIAL)
        if is_history(path.name):
            found.append((path.name, True))
        elif segment_of(name, size):
            found.append((name, name == path.name))
    return sorted(found)


def has_hole(store: Store, spool: Path, size: int) -> bool:
    """Whether something is missing between the newest base of a place and what is in the spool."""
    bases = bases_in(store)
    names = {name.removesuffix(PACKED) for name, _ in store.names(FOLDER) if name.endswith(PACKED)}
    names |= {name for name, _ in spooled(spool, size)}
    found = [segment for name in names if (segment := segment_of(name, size))]
    # What an earlier timeline has, which this base may have left, fills no hole.
    numbers = {one.number for one in found if bases and one.timeline >= bases[-1].timeline}
    if not numbers:
        return False
    return any(number not in numbers for number in range(bases[-1].start // size, max(numbers)))


def segment_in(store: Store, name: str, size: int) -> bytes:
    """A complete segment, or the history of a timeline, that a place has."""
    if is_history(name):
        return store.get(f"{FOLDER}/{name}")
    return unwrap(store.get(f"{FOLDER}/{name}{PACKED}"), size)


def piece_in(store: Store, piece: Piece) -> bytes:
    return unwrap(store.get(f"{FOLDER}/{piece.name}"), piece.until - piece.since)


def _read(path: Path, since: int, until: int) -> bytes | None:
    """None if it has got its own name meanwhile."""
    try:
        with open(path, "rb") as file:
            file.seek(since)
            return file.read(until - since)
    except FileNotFoundError:
        return None
