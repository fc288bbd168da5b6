"""What goes: bases beyond those that are to be kept, and the log that none of the kept ones needs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tasks_app.conf import conf
from tasks_app.core.wal import piece_of, segment_of
from tasks_app.sql import run

from .base import FOLDER as BASES
from .base import Base, proofs_in, read_bases
from .places import FAULTS, TEMPORARY, Store
from .shipping import FOLDER as LOG
from .shipping import PACKED

logger = logging.getLogger(__name__)

UNFINISHED = timedelta(days=2)  # a base takes less: one that is older and not complete never will be


@dataclass(slots=True)
class Pruned:
    place: str
    bases: list[str] = field(default_factory=list)
    segments: int = 0
    error: str = ""


def prune(places: Sequence[Store], *, dry_run: bool = False) -> list[Pruned]:
    """In each place by itself: what it has must be enough to restore from it alone."""
    done = []
    for store in places:
        pruned = Pruned(store.label)
        try:
            _prune(store, pruned, dry_run)
        except (*FAULTS, KeyError, ValueError) as error:
            pruned.error = str(error).rstrip(".")
            logger.warning("backup.not_pruned place=%s error=%s", store.label, pruned.error)
        done.append(pruned)
    return done


def kept(bases: Sequence[Base], proved: Sequence[str], number: int) -> list[Base]:
    """The newest ones; and of those that were restored and started the newest, whatever its age."""
    stay = list(bases[-number:])
    sound = [base for base in bases if base.label in proved]
    return stay if not sound or sound[-1] in stay else [sound[-1], *stay]


def _prune(store: Store, pruned: Pruned, dry_run: bool) -> None:
    bases, unreadable = read_bases(store)
    if unreadable:  # it would pass for one that was never finished, and its log for one that nobody needs
        told = "; ".join(f"base {label}: {error}" for label, error in unreadable.items())
        raise OSError(f"nothing goes while a base can't be read: {told}")
    proved = [proof.label for proof in proofs_in(store)]
    stay = kept(bases, proved, conf().BACKUP_KEEP)
    if not stay:
        return  # without a base the log may be all there is
    gone = [base.label for base in bases if base not in stay] + _unfinished(store, bases)
    for label in gone:
        if not dry_run:
            store.delete(f"{BASES}/{label}/backup.json")  # first: without it there is no such base
            store.delete_folder(f"{BASES}/{label}")
        pruned.bases.append(label)
    for name in _old_log(store, min(stay, key=lambda one: one.start)):
        if not dry_run:
            store.delete(f"{LOG}/{name}")
        pruned.segments += 1
    if (pruned.bases or pruned.segments) and not dry_run:
        logger.info("backup.pruned place=%s bases=%d segments=%d", store.label, len(pruned.bases), pruned.segments)


def _old_log(store: Store, oldest: Base) -> list[str]:
    """Segments, and pieces, from before the log that the oldest base needs begins; on whatever timeline."""
    first, found = oldest.start // oldest.segment_bytes, []
    for name, _ in store.names(LOG):
        piece = piece_of(name)
        segment = segment_of(piece.segment if piece else name.removesuffix(PACKED), oldest.segment_bytes)
        if segment and segment.number < first:
            found.append(name)
    return found


def _unfinished(store: Store, bases: Sequence[Base]) -> list[str]:
    now: datetime = run("clock", {})[0][0]
    complete = {base.label for base in bases}
    labels = {name.partition("/")[0] for name, _ in _all_names(store)} - complete
    return [label for label in sorted(labels) if (began := _began(label)) and now - began > UNFINISHED]


def _all_names(store: Store) -> list[tuple[str, int]]:
    """With those that are being written."""
    path = f"{store.root}/{BASES}"
    return [(name[len(path) + 1 :].removesuffix(TEMPORARY), size) for name, size in store.place.files(path)]


def _began(label: str) -> datetime | None:
    try:
        return datetime.strptime(label.partition("-")[0] + "+0000", "%Y%m%dT%H%M%S%z")
    except ValueError:
        return None
