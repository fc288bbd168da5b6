"""What goes and what stays: the newest bases, the newest one that was ever restored, and the log that they need."""

from datetime import UTC, datetime, timedelta

import pytest

from tasks_app.archive.place import place_of
from tasks_app.backup.base import ABOUT, Base, bases_in, newest, note_proof
from tasks_app.backup.errors import BackupError
from tasks_app.backup.keeping import prune
from tasks_app.backup.mending import mend
from tasks_app.backup.places import Store, unwrap, wrap
from tasks_app.backup.shipping import FOLDER
from tasks_app.backup.sources import Sources
from tasks_app.core.wal import Piece, Segment

pytestmark = pytest.mark.django_db
SIZE = 16 << 20
NOW = datetime(2026, 11, 16, tzinfo=UTC)


def a_place(folder, number: int = 1) -> Store:
    folder.mkdir()
    return Store(number, str(folder), place_of(str(folder)), "7")


def put_base(store: Store, day: int, segment: int) -> Base:
    """One that was made on that day, whose log begins in that segment."""
    at, tar = NOW + timedelta(days=day), b"all of it"
    import hashlib

    base = Base(
        f"{at:%Y%m%dT%H%M%S}-000Z",
        *("7", 180000, 1, segment * SIZE + 40, segment * SIZE + 99, SIZE, at, at, 9, 9),
        hashlib.sha256(tar).hexdigest(),
    )
    store.put(base.tar, tar)
    store.put_json(f"{base.folder}/{ABOUT}", base.to_json())
    return base


def put_log(store: Store, *numbers: int) -> None:
    for number in numbers:
        store.put(f"{FOLDER}/{Segment(1, number, SIZE).name}.zst", wrap(b"log"))


def log_in(store: Store) -> set[str]:
    return {name for name, _ in store.names(FOLDER)}


def test_the_newest_stay_with_the_log_since_the_oldest_of_them(tmp_path, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_KEEP": 2}
    store = a_place(tmp_path / "a")
    bases = [put_base(store, day, 10 * day) for day in range(1, 5)]
    put_log(store, 9, 10, 20, 29, 30, 31, 40)
    store.put(f"{FOLDER}/{Piece(Segment(1, 29, SIZE).name, 8192, 0).name}", wrap(b"x"))
    store.put(f"{FOLDER}/00000002.history", b"1\t0/0")

    [planned] = prune([store], dry_run=True)
    assert len(log_in(store)) == 9 and len(bases_in(store)) == 4
    [pruned] = prune([store])

    assert (pruned.bases, pruned.segments) == (planned.bases, planned.segments) == ([b.label for b in bases[:2]], 5)
    assert bases_in(store) == bases[2:]
    kept = {f"{Segment(1, number, SIZE).name}.zst" for number in (30, 31, 40)}
    assert log_in(store) == kept | {"00000002.history"}


def test_the_newest_that_was_restored_stays_with_its_log(tmp_path, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_KEEP": 1}
    store = a_place(tmp_path / "a")
    bases = [put_base(store, day, 10 * day) for day in range(1, 5)]
    note_proof(store, bases[0], NOW)
    note_proof(store, bases[1], NOW)
    put_log(store, 10, 19, 20, 30)

    prune([store])

    assert bases_in(store) == [bases[1], bases[3]]
    assert log_in(store) == {f"{Segment(1, number, SIZE).name}.zst" for number in (20, 30)}


@pytest.mark.parametrize("broken", [b"{", b"[]", b'{"layout": 1, "unknown": 2}', b'{"layout": 99}'])
def test_a_base_that_cannot_be_read_hides_no_other_and_nothing_goes(tmp_path, settings, broken):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_KEEP": 1}
    a, b = a_place(tmp_path / "a"), a_place(tmp_path / "b", 2)
    bases = [put_base(a, day - 10, 10 * day) for day in range(1, 4)]
    put_log(a, 5, 30)
    a.put(f"{bases[1].folder}/{ABOUT}", broken)

    assert bases_in(a) == [bases[0], bases[2]] and newest([a]) == bases[2]
    [pruned] = prune([a])
    assert bases[1].label in pruned.error and pruned.bases == []
    assert (a.size(bases[1].tar), len(log_in(a))) == (9, 2)

    for base in bases:
        a.put(f"{base.folder}/{ABOUT}", broken)
    with pytest.raises(BackupError, match="can't be told"):
        newest([a])
    assert newest([a, b]) is None  # one that is made now is found in b


def test_without_a_base_no_log_goes(tmp_path):
    store = a_place(tmp_path / "a")
    put_log(store, 1, 2)
    [pruned] = prune([store])
    assert (pruned.segments, len(log_in(store))) == (0, 2)


def test_segments_that_are_missing_in_the_middle_are_told_by_name(tmp_path):
    store = a_place(tmp_path / "a")
    base = put_base(store, 1, 10)
    put_log(store, 8, 12, 13, 16)
    store.put(f"{FOLDER}/{Piece(Segment(1, 17, SIZE).name, 8192, 0).name}", wrap(b"x"))

    lost = Sources([store], None).look().missing(base)
    assert list(lost) == [Segment(1, number, SIZE).name for number in (11, 14, 15)]
    put_log(store, 11, 14, 15)
    assert Sources([store], None).look().missing(base) == {}


def test_a_place_gets_from_another_what_it_lacks_and_should_have(tmp_path, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_KEEP": 2}
    a, b = a_place(tmp_path / "a"), a_place(tmp_path / "b", 2)
    bases = [put_base(a, day, 10 * day) for day in range(1, 4)]
    put_log(a, 15, 20, 31)
    put_log(b, 31, 32)

    assert mend([a, b], SIZE) == 2 + 1 + 1
    assert bases_in(b) == bases[1:]
    assert log_in(b) == {f"{Segment(1, number, SIZE).name}.zst" for number in (20, 31, 32)}
    assert log_in(a) == log_in(b) | {f"{Segment(1, 15, SIZE).name}.zst"}
    assert mend([a, b], SIZE) == 0


def test_a_segment_that_is_on_its_way_to_a_place_is_left_to_whoever_brings_it(tmp_path):
    a, b = a_place(tmp_path / "a"), a_place(tmp_path / "b", 2)
    put_base(a, 1, 10)
    put_base(b, 1, 10)
    put_log(a, 10, 11)

    assert mend([a, b], SIZE, {Segment(1, 11, SIZE).name}) == 1
    assert log_in(b) == {f"{Segment(1, 10, SIZE).name}.zst"}


def test_what_a_stream_completes_or_takes_to_a_place_while_a_restore_reads_is_found_there(tmp_path):
    store, spool = a_place(tmp_path / "a"), tmp_path / "spool"
    spool.mkdir()
    put_base(store, 1, 10)
    first, second = (Segment(1, number, SIZE).name for number in (11, 12))
    (spool / first).write_bytes(b"1" * SIZE)
    (spool / f"{second}.partial").write_bytes(b"2")
    sources = Sources([store], spool).look()

    store.put(f"{FOLDER}/{first}.zst", wrap(b"1" * SIZE))
    (spool / first).unlink()
    (spool / f"{second}.partial").write_bytes(b"2" * SIZE)
    (spool / f"{second}.partial").rename(spool / second)

    assert (sources.read(first), sources.read(second)) == (b"1" * SIZE, b"2" * SIZE)


def test_what_is_wrapped_comes_back_or_is_refused():
    data = b"some bytes" * 100
    wrapped = wrap(data)
    assert unwrap(wrapped, len(data)) == data
    for broken in (wrapped[:-1], wrapped[:20] + b"?" + wrapped[21:], wrapped[:-1] + b"?", b""):
        with pytest.raises(OSError, match="damaged"):
            unwrap(broken, len(data))
