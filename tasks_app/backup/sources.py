"""Where a restore takes things from: every place that answers, and the spool; what one lacks, another may have."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tasks_app.core.wal import Piece, Segment, forks, is_history, joined, piece_of, segment_of

from .base import Base, bases_in
from .errors import BackupError
from .places import FAULTS, Store
from .shipping import FOLDER, PACKED, PARTIAL, piece_in, segment_in, spooled

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Sources:
    """Of one server."""

    places: list[Store]
    spool: Path | None  # with what had arrived and was not taken to a place yet
    bases: dict[str, list[tuple[Store, Base]]] = field(default_factory=dict)  # by label: who has it
    away: dict[str, str] = field(default_factory=dict)  # by place: why it can't be read
    # By timeline: those that it goes back to, and the position at which it left each.
    forks: dict[int, dict[int, int]] = field(default_factory=dict)
    _whole: dict[str, list[Store | None]] = field(default_factory=dict)  # None: the spool
    _pieces: dict[str, list[tuple[Store, Piece]]] = field(default_factory=dict)
    _growing: set[str] = field(default_factory=set)  # in the spool

    def look(self) -> Sources:
        for store in self.places:
            try:
                for base in bases_in(store):
                    self.bases.setdefault(base.label, []).append((store, base))
                for name, _ in store.names(FOLDER):
                    if piece := piece_of(name):
                        self._pieces.setdefault(piece.segment, []).append((store, piece))
                    else:
                        self._whole.setdefault(name.removesuffix(PACKED), []).append(store)
            except (*FAULTS, KeyError, ValueError) as error:
                self.away[store.label] = str(error).rstrip(".")
        if self.spool and self.spool.is_dir():
            for name, complete in spooled(self.spool, self.segment_bytes):
                if complete:
                    self._whole.setdefault(name, []).insert(0, None)
                else:
                    self._growing.add(name)
        self._read_histories()
        return self

    def _read_histories(self) -> None:
        for name in self.histories():
            try:
                self.forks[int(name[:8], 16)] = forks(self.read(name).decode())
            except (*FAULTS, ValueError) as error:
                logger.warning("restore.unreadable history=%s error=%s", name, error)

    @property
    def segment_bytes(self) -> int:
        return next((base.segment_bytes for copies in self.bases.values() for _, base in copies), 16 << 20)

    def base_for(self, to: datetime | None, label: str | None = None, timeline: int | None = None) -> Base:
        """The newest one that was complete at that moment, and leads to this timeline; or the one of this label."""
        found = sorted((copies[0][1] for copies in self.bases.values()), key=lambda one: one.ended)
        if not found:
            away = "".join(f" {place}: {error}." for place, error in self.away.items())
            raise BackupError(f"There is no base backup in {_listed(self.places)}.{away} Make one: `backup run`.")
        if label is not None:
            if label not in self.bases:
                raise BackupError(f"There is no base backup {label!r}; there are {', '.join(b.label for b in found)}.")
            return self._complete_by(to, self._leading(self.bases[label][0][1], timeline))
        found = [base for base in found if timeline is None or self.leads(base, timeline)]
        if not found:
            raise BackupError(f"No base backup leads to timeline {timeline}. `backup list` says what there is.")
        early = [base for base in found if to is None or base.ended <= to]
        if not early:
            raise BackupError(
                f"The oldest base backup was complete at {found[0].ended.isoformat()}, which is after "
                f"{to.isoformat() if to else ''}; nothing can be restored to a moment before that."
            )
        return early[-1]

    def _complete_by(self, to: datetime | None, base: Base) -> Base:
        if to is not None and base.ended > to:
            raise BackupError(
                f"Base backup {base.label} was complete at {base.ended.isoformat()}, which is after {to.isoformat()}. "
                "Name an older one, or leave --base out."
            )
        return base

    def histories(self) -> list[str]:
        return sorted(name for name in self._whole if is_history(name))

    def timelines(self) -> list[int]:
        """Those of which there is a base, or some of the log."""
        logged = {segment.timeline for segment in self._segments(self.segment_bytes)}
        return sorted(logged | {copies[0][1].timeline for copies in self.bases.values()})

    def log_of(self, timeline: int) -> list[Segment]:
        return sorted(one for one in self._segments(self.segment_bytes) if one.timeline == timeline)

    def left_at(self, timeline: int) -> tuple[int, int] | None:
        """The timeline that this one left, and at which position; None: it is the first, or its history is lost."""
        before = self.forks.get(timeline)
        return max(before.items()) if before else None

    def leads(self, base: Base, timeline: int) -> bool:
        """Whether a recovery from this base can follow this timeline. One that was left before the base was complete
        can't: the base has what never was there."""
        return timeline == base.timeline or self.forks.get(timeline, {}).get(base.timeline, 0) >= base.end

    def _leading(self, base: Base, timeline: int | None) -> Base:
        if timeline is not None and not self.leads(base, timeline):
            raise BackupError(
                f"Base backup {base.label} is of timeline {base.timeline} and doesn't lead to timeline {timeline}, "
                "which had left before it was complete, or goes back to others. Leave --base or --timeline out."
            )
        return base

    def segments_since(self, base: Base, timeline: int | None = None) -> list[str]:
        """What a recovery from this base to the end of a timeline, its own if not given, may ask for, in the order in
        which it does."""
        size, last = base.segment_bytes, timeline or base.timeline
        ends = {one: until for one, until in self.forks.get(last, {}).items() if one >= base.timeline}
        wanted, first = [], base.start
        for number in [*sorted(ends), last]:
            until = ends.get(number)
            wanted += [
                one
                for one in self._segments(size)
                if one.timeline == number and one.number >= first // size and (until is None or one.begin < until)
            ]
            first = max(first, until or 0)
        return [one.name for one in sorted(wanted, key=lambda one: (one.number, one.timeline))]

    def _segments(self, size: int) -> list[Segment]:
        names = set(self._whole) | set(self._pieces) | self._growing
        return [segment for name in names if (segment := segment_of(name, size))]

    def missing(self, base: Base, timeline: int | None = None) -> dict[str, str]:
        """Segments that nobody has, though somebody has later ones: a recovery ends before them. By name, and why."""
        later = [segment_of(name, base.segment_bytes) for name in self.segments_since(base, timeline)]
        there = {one.number for one in later if one and one.name in self._whole}
        # The base itself has the log until its end. The newest may be in the making.
        first, lost = (base.end - 1) // base.segment_bytes + 1, {}
        for before, one in zip([None, *later], later, strict=False):
            if one is not None:
                begin = max(first, before.number if before else first)
                for number in range(begin, one.number):
                    if number not in there:
                        lost[Segment(one.timeline, number, one.size).name] = "no place has all of it"
        return lost

    def read(self, name: str) -> bytes:
        """A segment or a history, from whoever has it whole; else as far as pieces of it reach."""
        problems, found = [], []
        for store in self._whole.get(name, ()):
            try:
                return self._from_spool(name) if store is None else segment_in(store, name, self.segment_bytes)
            except FAULTS as error:
                problems.append(f"{store.label if store else self.spool}: {error}")
                logger.warning("restore.unreadable segment=%s error=%s", name, problems[-1])
        if name in self._growing:
            try:
                found.append(self._from_spool(name + PARTIAL))
            except FAULTS as error:
                problems.append(f"{self.spool}: {error}")
        if problems and (whole := self._by_now(name)) is not None:
            return whole
        found += [self._joined(name, store) for store in {store for store, _ in self._pieces.get(name, ())}]
        if not found:
            raise OSError("; ".join(problems) or "nobody has it")
        return max(found, key=lambda data: len(data.rstrip(b"\0")))

    def _by_now(self, name: str) -> bytes | None:
        """A stream may have completed it since the look, and taken it to a place."""
        for store in (*([None] if self.spool else []), *self.places):
            if store not in self._whole.get(name, ()) or store is None:
                with suppress(*FAULTS):
                    return self._from_spool(name) if store is None else segment_in(store, name, self.segment_bytes)
        return None

    def _joined(self, name: str, store: Store) -> bytes:
        pieces = []
        for place, piece in self._pieces[name]:
            if place == store:
                try:
                    pieces.append((piece, piece_in(store, piece)))
                except FAULTS as error:
                    logger.warning("restore.unreadable piece=%s error=%s", piece.name, error)
        return joined(pieces, self.segment_bytes)

    def _from_spool(self, name: str) -> bytes:
        assert self.spool is not None
        data = (self.spool / name).read_bytes()
        return data if is_history(name) else data.ljust(self.segment_bytes, b"\0")


def _listed(places: Sequence[Store]) -> str:
    return " or ".join(store.label for store in places)
