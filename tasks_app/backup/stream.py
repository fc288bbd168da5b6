"""What `manage.py backup stream` runs: the log arrives in the spool and goes on to each place, a base is made when it
is time, what is too old goes, and the database knows how far behind each place is."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import IO, Any

from django.db.utils import Error as DatabaseError

from tasks_app.conf import conf
from tasks_app.core.wal import LEAST_RECORD, parse_lsn
from tasks_app.database import close_connections
from tasks_app.sql import run

from .base import Base, bases_in, newest, proofs_in, take_base
from .errors import BackupError
from .keeping import prune
from .mending import mend
from .ownership import Hold, held
from .places import FAULTS, Store, stores
from .programs import Programs, programs_for
from .receiver import Receiver
from .server import ServerFacts, ask_server
from .shipping import Shipper, has_hole, spooled

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.4  # between two looks at the spool: what is lost with the server is little older than this
# Between two looks at how far the server is: a place is noted to be no more than this further behind than it is.
SAMPLE_SECONDS = 0.1
NOTE_SECONDS = 0.2  # between two notes, at least: one comes as soon as a place has got further
IDLE_SECONDS = 0.8  # and at most: with a sample of before, what is noted is never more than a second old
WHOSE_SECONDS = 1.0  # between two looks at whose database it is
AWAY_SECONDS = 1.0  # a server that doesn't answer is not asked again for so long
LOOK_SECONDS = 60.0  # between two looks at what lies in the places
HURRY_SECONDS = 5.0  # the same, while something is missing there
STOP_SECONDS = 5.0
SAMPLES = 40_000  # moments of which the position is remembered: more than an hour


class Stream:
    """`run` does it until it is told to stop; `run_once` is once what its threads do again and again."""

    def __init__(self, *, synchronous: bool = False) -> None:
        self.facts: ServerFacts = ask_server()
        self.places = stores(self.facts.system)
        self.programs: Programs = programs_for(self.facts.major)
        self.spool = open_spool(self.facts)
        self._lock = _lock(self.spool)
        self.receiver = Receiver(self.programs, self.spool, synchronous=synchronous)
        self.hold: Hold | None = held()  # why nothing goes to the places now
        self._synchronous = synchronous
        self.shippers = [Shipper(store, self.spool, self.facts.segment_bytes) for store in self.places]
        self._samples: deque[tuple[datetime, int]] = deque(maxlen=SAMPLES)
        self._known: dict[str, dict[str, Any]] = {}  # what lies in each place, as of the last look
        self._receive_at = self._note_at = self._noted_at = self._whose_at = 0.0
        self._noted: list[tuple[int | None, str]] = []  # how far each place was, and its error, by the last note
        self._noted_lsn = 0  # how far the server was before that note
        self._own_until: int | None = None  # and after it; None: it was not asked since
        self._answers = False  # the server, when it was last asked
        self._tended: Tended | None = None
        self._rounds_at_gap: list[int] | None = None  # of the shippers, when it was noticed

    def run_once(self) -> None:
        """The log, as far as it has arrived, is taken to all places that can be reached; and it is noted."""
        self._receive()
        for shipper in self.shippers:
            self._ship(shipper)
        if not self.hold and any(one.hole for one in self.shippers):
            self.mend()
        self.note()

    def run(self, stopped: threading.Event) -> None:
        """Each place has a thread of its own, so that one that hangs holds no other up."""
        self._tended = Tended(self)
        shipping = [partial(self._ship, one) for one in self.shippers]
        threads = [threading.Thread(target=_until(stopped, one), daemon=True) for one in shipping]
        threads.append(threading.Thread(target=_until(stopped, self._tended.run_once, 1.0), daemon=True))
        for thread in threads:
            thread.start()
        try:
            while not stopped.is_set():
                if time.monotonic() >= self._receive_at:
                    self._receive_at = time.monotonic() + PAUSE_SECONDS
                    self._receive()
                if time.monotonic() >= self._note_at or (self._answers and self._is_news()):
                    self.note()
                elif self._answers:
                    self.sample()
                stopped.wait(SAMPLE_SECONDS)
        finally:
            stopped.set()
            for thread in threads:
                thread.join(STOP_SECONDS)  # one that hangs ends with the process
            self.close()
            close_connections()

    def _ship(self, shipper: Shipper) -> None:
        if not self.hold:
            shipper.run_once()

    def _receive(self) -> None:
        known = self._look_whose()
        if self.hold:
            self._receive_only(known)
            return
        # Whoever answers a receiver that is started may be another server than before.
        self.receiver.run_once(may_start=known)
        self._over_gap()
        self._clean_spool()

    def _receive_only(self, known: bool) -> None:
        """A synchronous one goes on, since commits wait for it, and the one that ends the quarantine does, too."""
        assert self.hold is not None
        if self._synchronous and not self.hold.stranger:
            self.receiver.run_once(may_start=known)
        else:
            self.receiver.stop()

    def _look_whose(self) -> bool:
        """Whether it is known whose database answers now. While none does, what has arrived goes to the places or not,
        as before; and nothing new is received."""
        alike = self.receiver.alive and self.hold is None  # a server that is replaced ends its receiver
        if time.monotonic() < self._whose_at:
            return alike
        before = self.hold
        try:
            self.hold = held()
        except DatabaseError as error:
            logger.warning("backup.whose_unknown error=%s", str(error).strip())
            self._whose_at = time.monotonic() + AWAY_SECONDS
            close_connections()
            return alike
        if alike:
            self._whose_at = time.monotonic() + WHOSE_SECONDS
        if self.hold and self.hold != before:
            logger.error("backup.held reason=%s", self.hold.why)
        elif before and not self.hold:
            logger.warning("backup.goes_on")
        return True

    def mend(self) -> None:
        """What a place lacks it gets from another, except for what it is about to get from the spool."""
        mend(self.places, self.facts.segment_bytes, {name for name, _ in spooled(self.spool, self.facts.segment_bytes)})

    def close(self) -> None:
        self.receiver.stop()
        self._lock.close()

    def note(self) -> None:
        """Write down what is known; and the moment and position by which the next note says how far behind it is."""
        self._noted_at = time.monotonic()
        self._note_at = self._noted_at + IDLE_SECONDS
        self._noted = [(one.position, self._error_of(one)) for one in self.shippers]
        if self.hold and self.hold.stranger:
            return
        self._own_until = None
        self._ask(lambda: note_places([self._told(one) for one in self.shippers]))
        self._noted_lsn = self._samples[-1][1] if self._samples else 0

    def _is_news(self) -> bool:
        """Whether a place has got further since the last note, or is away or back, and that was not just now."""
        if time.monotonic() - self._noted_at < NOTE_SECONDS:
            return False
        return any(self._differs(one, *was) for one, was in zip(self.shippers, self._noted, strict=True))

    def _differs(self, shipper: Shipper, position: int | None, error: str) -> bool:
        if self._error_of(shipper) != error:
            return True
        if shipper.position in (None, position) or position is None or self._own_until is None:
            return shipper.position != position
        # What the note itself has written is no news, or each note would soon be followed by another.
        had_all = self._noted_lsn - position < LEAST_RECORD
        return not had_all or shipper.position > self._own_until

    def _error_of(self, shipper: Shipper) -> str:
        if self.hold:
            return self.hold.why
        return shipper.error or (self.receiver.error if not self.receiver.alive else "")

    def sample(self) -> None:
        """One more moment and position, between two notes."""
        self._ask(self._flushed)

    def _flushed(self) -> tuple[datetime, int]:
        moment, flushed, written = run("flushed", {})[0]
        if self._own_until is None:
            self._own_until = parse_lsn(written)
        return _moment_and_position(moment, flushed)

    def _ask(self, call: Callable[[], tuple[datetime, int]]) -> None:
        try:
            self._samples.append(call())
            self._answers = True
        except DatabaseError as error:
            logger.warning("backup.not_noted error=%s", str(error).strip())
            self._answers, self._note_at = False, time.monotonic() + AWAY_SECONDS
            close_connections()

    def look(self) -> None:
        """What lies in the places, for the notes."""
        for store in self.places:
            try:
                self._known[store.label] = content_of(store)
            except (*FAULTS, KeyError, ValueError) as error:
                logger.warning("backup.place_away place=%s error=%s", store.label, error)

    def _told(self, shipper: Shipper) -> dict[str, Any]:
        told = place_told(shipper.store, self._error_of(shipper), self._known.get(shipper.store.label))
        position = shipper.position
        if position is not None and self._samples and not shipper.hole:
            covered = (moment for moment, lsn in reversed(self._samples) if lsn - position < LEAST_RECORD)
            last = next(covered, None)
            told["covered_until"] = last and last.isoformat()
            told["behind_bytes"] = max(0, self._samples[-1][1] - position)
        return told

    def _clean_spool(self) -> None:
        """What every place that answers has, and was compared there, goes, and at least one must; the last segment
        stays: what arrives next is found by it. A place that comes back gets what it missed from another."""
        answering = [known for one in self.shippers if (known := one.known) is not None]
        if not answering:
            return
        everywhere = set.intersection(*answering)
        complete = [name for name, whole in spooled(self.spool, self.facts.segment_bytes) if whole]
        segments = [name for name in complete if "." not in name]
        for name in complete:
            if name in everywhere and name not in segments[-1:]:
                (self.spool / name).unlink(missing_ok=True)

    def _over_gap(self) -> None:
        """The server no longer has what comes next: take what there is to the places, and go on with a new base."""
        if not self.receiver.gap:
            self._rounds_at_gap = None
            return
        if self._rounds_at_gap is None:
            self._rounds_at_gap = [one.rounds for one in self.shippers]
        if self.receiver.alive or not self._all_taken(self._rounds_at_gap):
            return
        logger.error("backup.gap error=%s", self.receiver.error)
        if not self.receiver.begin_anew():
            return
        self._rounds_at_gap = None
        self._samples.clear()
        for shipper in self.shippers:
            shipper.position = None
        if self._tended:
            self._tended.base_wanted = True

    def _all_taken(self, rounds: list[int]) -> bool:
        """Whether what had arrived is in the places: complete segments in one of them, the last pages of the one in the
        making in all that answer. Of two rounds of a shipper, the second has begun after that."""
        answering = [(one, since) for one, since in zip(self.shippers, rounds, strict=True) if not one.error]
        if not answering or any(one.rounds < since + 2 for one, since in answering):
            return False
        there = set.union(*(one.whole or set() for one in self.shippers))
        return all(name in there for name, complete in spooled(self.spool, self.facts.segment_bytes) if complete)


class Tended:
    """What is done now and then, beside the log: bases, retention, and what a place missed while it was away."""

    def __init__(self, stream: Stream) -> None:
        self.base_wanted = False
        self._stream = stream
        self._look_at = self._hurry_at = 0.0
        self._based_on = 0  # the timeline of the last base that was made here

    def run_once(self) -> None:
        if self._stream.hold:
            return
        now = time.monotonic()
        hole = any(one.hole and one.whole is not None for one in self._stream.shippers)
        if now < (self._hurry_at if hole or self.base_wanted else self._look_at):
            return
        self._look_at = now + LOOK_SECONDS
        try:
            self._tend()
        except (*FAULTS, BackupError, DatabaseError) as error:
            logger.warning("backup.failed error=%s", str(error).strip())
            self._look_at = now + HURRY_SECONDS
        finally:
            close_connections()
            self._hurry_at = time.monotonic() + HURRY_SECONDS

    def _tend(self) -> None:
        stream = self._stream
        stream.mend()
        last = newest(stream.places)
        unprotected = self.base_wanted or self._all_holes() or self._left_behind(last)
        if unprotected or base_due(last):
            if not stream.receiver.alive:
                raise BackupError("a base waits until the log arrives again: " + (stream.receiver.error or "not yet"))
            # Without hurry the server spreads its checkpoint over minutes, which costs tasks least.
            fast = unprotected or last is None
            base, errors = take_base(stream.facts, stream.programs, stream.places, fast=fast)
            self.base_wanted, self._based_on = False, base.timeline
            for label, error in errors.items():
                logger.warning("backup.place_missed place=%s error=%s", label, error)
        prune(stream.places)
        stream.look()

    def _left_behind(self, last: Base | None) -> bool:
        """The server was restored, or promoted: the newest base may lie after the point at which its timeline began."""
        if last is None:
            return False
        now = int(run("timeline", {})[0][0], 16)
        # By clocks that differ, the one that we made may not be the newest; one is enough.
        return now not in (last.timeline, self._based_on)

    def _all_holes(self) -> bool:
        """The log was not received for a while: no base that there is leads to this day."""
        stream, size = self._stream, self._stream.facts.segment_bytes
        known = [one.store for one in stream.shippers if one.whole is not None]
        return bool(known) and all(has_hole(store, stream.spool, size) for store in known)


def base_due(last: Base | None) -> bool:
    every = timedelta(hours=conf().BACKUP_EVERY_HOURS)
    if not every:
        return False
    now: datetime = run("clock", {})[0][0]
    return last is None or now - last.ended >= every


def content_of(store: Store) -> dict[str, Any]:
    """What a place has, as it is noted."""
    bases, proofs = bases_in(store), proofs_in(store)
    last, proof = bases[-1] if bases else None, proofs[-1] if proofs else None
    return {
        "base": last.label if last else "",
        "base_at": last.ended.isoformat() if last else None,
        "base_bytes": last.stored_bytes if last else 0,
        "bases": len(bases),
        "restored": proof.label if proof else "",
        "restored_at": proof.at.isoformat() if proof else None,
    }


def place_told(store: Store, error: str, content: dict[str, Any] | None = None) -> dict[str, Any]:
    """A place for note_places."""
    return {"number": store.number, "place": store.label, "error": error, **(content or {})}


def note_places(told: list[dict[str, Any]]) -> tuple[datetime, int]:
    return _moment_and_position(*run("note_places", {"told": json.dumps(told)})[0])


def _moment_and_position(moment: datetime, lsn: str) -> tuple[datetime, int]:
    return moment, parse_lsn(lsn)


def note_content(places: list[Store]) -> None:
    """What lies in the places, for those who changed it without a stream."""
    told = []
    for store in places:
        try:
            told.append(place_told(store, "", content_of(store)))
        except (*FAULTS, KeyError, ValueError) as error:
            told.append(place_told(store, str(error).rstrip(".")))
    note_places(told)


def open_spool(facts: ServerFacts) -> Path:
    """A folder for the log of this server, closed to others."""
    spool = Path(conf().BACKUP_SPOOL) / facts.system
    try:
        spool.mkdir(parents=True, mode=0o700, exist_ok=True)
    except OSError as error:
        raise BackupError(
            f'PUNCTUAL["BACKUP_SPOOL"] is {conf().BACKUP_SPOOL}, which can\'t be used: {error.strerror}. Set it to a '
            "folder that you can write to."
        ) from error
    return spool


def _lock(spool: Path) -> IO[str]:
    file = open(os.open(spool / "lock", os.O_RDWR | os.O_CREAT, 0o600), "r+")  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = file.read().strip()
        file.close()
        raise BackupError(
            f"The log is already received into {spool}, by process {owner or 'unknown'}. One is enough; stop that "
            "one first."
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _until(stopped: threading.Event, call: Callable[[], object], pause: float = PAUSE_SECONDS) -> Callable[[], None]:
    def loop() -> None:
        while not stopped.is_set():
            try:
                call()
            except Exception:
                logger.exception("backup.failed")
            stopped.wait(pause)

    return loop
