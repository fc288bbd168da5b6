"""What a place missed while it was away, it gets from another: bases, and the log since the oldest that is kept."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from tasks_app.conf import conf
from tasks_app.core.wal import is_history, segment_of

from .base import ABOUT, PROVED, Base, bases_in, proofs_in
from .keeping import kept
from .places import CHUNK, FAULTS, Store
from .shipping import FOLDER as LOG
from .shipping import PACKED

logger = logging.getLogger(__name__)


def mend(places: Sequence[Store], segment_bytes: int, on_its_way: Collection[str] = ()) -> int:
    """Copy from each place to each other what that lacks, and should have; the number of files. Segments that are on
    their way there already are left to whoever brings them."""
    bases: dict[Store, list[Base]] = {}
    logs: dict[Store, set[str]] = {}
    proved: set[str] = set()
    for store in places:
        try:
            bases[store] = bases_in(store)
            logs[store] = {name for name, _ in store.names(LOG)}
            proved |= {proof.label for proof in proofs_in(store)}
        except (*FAULTS, KeyError, ValueError) as error:
            bases.pop(store, None)
            logger.info("backup.place_away place=%s error=%s", store.label, error)
    known = {base.label: base for found in bases.values() for base in found}
    wanted = kept(sorted(known.values(), key=lambda one: one.ended), sorted(proved), conf().BACKUP_KEEP)
    if not wanted or len(bases) < 2:
        return 0
    first = min(base.start for base in wanted) // segment_bytes
    done = 0
    for target in bases:
        for source in bases:
            if source is not target:
                labels = {base.label for base in bases[target]}
                lacking = [base for base in wanted if base in bases[source] and base.label not in labels]
                lacking_log = [
                    name
                    for name in logs[source] - logs[target]
                    if _counts(name, first, segment_bytes) and name.removesuffix(PACKED) not in on_its_way
                ]
                try:
                    done += _copy(source, target, lacking, sorted(lacking_log), proved)
                except FAULTS as error:
                    logger.warning("backup.not_mended place=%s error=%s", target.label, error)
                    continue
                bases[target] += lacking
                logs[target] |= set(lacking_log)
    return done


def _copy(source: Store, target: Store, bases: list[Base], log: list[str], proved: set[str]) -> int:
    for name in log:
        target.put(f"{LOG}/{name}", source.get(f"{LOG}/{name}"))
    for base in bases:
        with source.open(base.tar) as file, target.create(base.tar) as copy:
            while chunk := file.read(CHUNK):
                copy.write(chunk)
        target.finish(base.tar, base.sha256)
        target.put_json(f"{base.folder}/{ABOUT}", base.to_json())
        if base.label in proved and source.size(f"{base.folder}/{PROVED}"):
            target.put(f"{base.folder}/{PROVED}", source.get(f"{base.folder}/{PROVED}"))
    if bases or log:
        logger.info(
            "backup.mended place=%s from=%s bases=%d files=%d", target.label, source.label, len(bases), len(log)
        )
    return len(bases) + len(log)


def _counts(name: str, first: int, segment_bytes: int) -> bool:
    """Complete segments from the first that is needed on, and histories; pieces are the stream's business."""
    segment = segment_of(name.removesuffix(PACKED), segment_bytes) if name.endswith(PACKED) else None
    return is_history(name) or (segment is not None and segment.number >= first)
