"""Backups of the server that these tests run on: what is in them, and what comes back out of them."""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command

from tasks_app.backup.base import ABOUT, bases_in, proofs_in, take_base
from tasks_app.backup.errors import BackupError
from tasks_app.backup.manifest import compared, differs
from tasks_app.backup.ownership import RULE, held, refuse_copy
from tasks_app.backup.places import vacant, wrap
from tasks_app.backup.programs import link, programs_for
from tasks_app.backup.receiver import slot_name
from tasks_app.backup.recovery import Recovery, waits_for
from tasks_app.backup.restore import Restored, restore, served, the_system
from tasks_app.backup.server import ask_server
from tasks_app.backup.shipping import FOLDER, has_hole, spooled
from tasks_app.backup.sources import Sources
from tasks_app.backup.stream import Stream, Tended, note_content
from tasks_app.core.overdue import Answer, Choice
from tasks_app.core.wal import LEAST_RECORD, piece_of
from tasks_app.database import close_connections, our_connection
from tasks_app.embedded.account import server_account
from tasks_app.engine.operations import quarantine
from tasks_app.engine.watch.backup_status import read_backups
from tasks_app.lifecycle.installation import look, touch
from tasks_app.models import BackupPlace, Installation, ScheduleTask
from tasks_app.sql import execute
from tests.support.backup import SECONDS, Ground, begun, commit_task, damage, drop_slot, now, ship, streaming
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.quarantine import noted
from tests.support.scale import FULL
from tests.support.wait import wait_until

pytestmark = commits
FLUSHED = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint"


@pytest.fixture(scope="module")
def _ground() -> Iterator[Ground]:
    ground = Ground()
    yield ground
    ground.discard()


@pytest.fixture
def ground(_ground, settings) -> Ground:
    settings.PUNCTUAL = settings.PUNCTUAL | _ground.settings()
    return _ground


@pytest.fixture
def stream(ground) -> Iterator[Stream]:
    """To places that have a base of it; all tests share that one."""
    if ground.base is None:
        ground.base = begun()
    with streaming() as stream:
        yield stream


def keys_in(restored: Restored) -> tuple[set[str], str, str]:
    """What the restored server has: keys of tasks, and whether it is in quarantine, why."""

    def look() -> tuple[set[str], str, str]:
        row = Installation.objects.get()
        return set(ScheduleTask.objects.values_list("biz_key", flat=True)), row.state, row.reason

    with served(restored) as server:
        return server.ask(look)


def backup(*words: str) -> tuple[int, str, str]:
    """The exit code of the command, what it told, and what it said meanwhile."""
    out, err = StringIO(), StringIO()
    try:
        call_command("backup", *words, stdout=out, stderr=err)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_the_last_commit_that_was_shipped_comes_back_in_quarantine_and_what_came_after_is_listed(stream, ground):
    commit_task("early")
    execute("SELECT pg_switch_wal()")
    commit_task("last")
    ship(stream)
    stream.close()
    later = commit_task("later")
    folder = ground.folder / "last"

    restored = restore(folder)

    keys, state, reason = keys_in(restored)
    assert {"early", "last"} <= keys and "later" not in keys
    assert (state, f"base {ground.base.label}" in reason) == (Installation.QUARANTINED, True)
    assert restored.after.known and [(one.id, one.key) for one in restored.after.added] == [(later, "later")]
    assert json.loads((ground.folder / "last.after.json").read_text())["added"][0]["key"] == "later"
    assert (restored.lost, (ground.folder / "last.unfinished").exists()) == ({}, False)
    with pytest.raises(BackupError, match="is there already and not empty"):
        restore(folder)


def test_a_moment_comes_back_without_what_came_after_it(stream, ground):
    commit_task("before")
    moment = now()
    commit_task("after")
    ship(stream)
    # A restore that was killed has left this behind.
    (ground.folder / "moment.unfinished" / "data").mkdir(parents=True)
    (ground.folder / "moment.unfinished" / "data" / "PG_VERSION").write_text("half")

    folder = ground.folder / "moment"
    there = sorted(ground.folder.iterdir())
    code, told, _ = backup("restore", str(folder), "--dry-run", "--from", str(ground.b))
    assert (code, sorted(ground.folder.iterdir())) == (0, there)
    assert f"Base backup {ground.base.label}, complete since" in told and f"unpacked from {ground.b} into" in told
    code, told, said = backup("restore", str(folder), "--to", moment.isoformat(), "--from", str(ground.b))

    # The original has both: what it has and the copy lacks is listed.
    assert (code, "Clearing away what an earlier restore left" in said) == (0, True)
    assert [one["key"] for one in json.loads((ground.folder / "moment.after.json").read_text())["added"]] == ["after"]
    assert f"Restored into {folder} from {ground.b}, base {ground.base.label}" in told
    assert "is in quarantine" in told and "ran 0 tasks and took on 1 new one:" in told
    assert [proof.label for proof in proofs_in(ground.stores()[1])] == [ground.base.label]
    with pytest.raises(BackupError, match="nothing can be restored to a moment before that"):
        restore(ground.folder / "too early", to=ground.base.began)


def test_a_restore_goes_where_a_link_leads_and_only_its_owner_reads_what_came_after(stream, ground):
    ship(stream)
    stream.close()
    disk, link_to_it = ground.folder / "two words", ground.folder / "link"
    disk.mkdir()
    link_to_it.symlink_to(disk)

    code, told, _ = backup("restore", str(link_to_it))

    assert (code, f"Start it with `pg_ctl -D '{disk.resolve()}' start`." in told) == (0, True)
    assert link_to_it.is_symlink() and (disk / "PG_VERSION").exists()
    assert (ground.folder / "two words.after.json").stat().st_mode & 0o077 == 0
    with pytest.raises(BackupError, match="/ is the top folder of a disk"):
        restore(Path("/"))


def test_a_restore_that_fails_leaves_nothing_large_and_one_that_must_fail_is_refused(stream, ground):
    ship(stream)
    stream.close()

    with pytest.raises(BackupError, match="The log ends before 2999"):
        restore(ground.folder / "failed", to=datetime(2999, 1, 1, tzinfo=UTC))
    left = {path.name for path in (ground.folder / "failed.unfinished").iterdir()}
    assert ("server" in left, left & {"data", "feed"}) == (True, set())
    with pytest.raises(BackupError, match=r"was complete at .* Name an older one"):
        restore(ground.folder / "refused at once", to=ground.base.began, label=ground.base.label)
    assert not (ground.folder / "refused at once.unfinished").exists()


def test_a_restored_server_that_is_kept_running_is_told_once_and_ends_with_the_command(stream, ground):
    ship(stream)
    stream.close()
    out, state = StringIO(), []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def look_and_end() -> None:
        try:
            wait_until(lambda: out.getvalue().endswith("\n"), SECONDS, describe=out.getvalue)
            with psycopg.connect(json.loads(out.getvalue())["database_url"]) as there:
                state.extend(there.execute("SELECT state FROM punctual_installation").fetchone())
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    looking = threading.Thread(target=look_and_end)
    looking.start()
    try:
        call_command("backup", "restore", str(ground.folder / "kept"), "--start", "--json", stdout=out)
    finally:
        looking.join()
        for number, handler in before.items():
            signal.signal(number, handler)

    assert (state, json.loads(out.getvalue())["quarantined"]) == ([Installation.QUARANTINED], True)
    assert (ground.folder / "kept" / "PG_VERSION").exists() and not (ground.folder / "kept.server").exists()


def test_damage_is_found_by_verify_and_a_restore_takes_the_other_copy(stream, ground, settings):
    ship(stream)
    stream.close()
    tar = ground.a / ask_server().system / ground.base.tar
    kept = shutil.copy(tar, ground.folder / "kept.tar")
    try:
        damage(tar)
        code, told, _ = backup("verify", "--base-only", "--scratch", str(ground.folder), "--json")
        a, b = json.loads(told)
        assert (code, "damaged" in a["problems"][0], b["problems"]) == (1, True, [])
        work = ground.folder / "work"
        work.mkdir()
        work.chmod(0o711)
        recovery = Recovery(
            stream.programs, server_account(work), work, Sources(ground.stores(), None).look(), ground.base
        )
        recovery.unpack(lambda done, total: None)
        assert recovery.taken_from.label == str(ground.b)
        # The server's own manifest finds what was damaged before it was packed, or as it was unpacked. That it finds
        # nothing else, verify has shown.
        damage(recovery.data / "base" / "1" / "1259")
        (recovery.data / "PG_VERSION").unlink()
        (recovery.data / "stranger").touch()
        assert compared(recovery.data) == (
            "PG_VERSION is missing; base/1/1259 has another checksum than the server gave it; stranger is not in the "
            "server's manifest"
        )
        assert differs(stream.programs, recovery.data) != ""
        damage(recovery.data / "backup_manifest")
        assert "the server's manifest" in compared(recovery.data)
        shutil.rmtree(work)
    finally:
        shutil.copy(kept, tar)
    note_content(ground.stores())
    assert [(one.restored or None) is not None for one in read_backups()][1] is True


def test_a_damaged_segment_is_taken_from_another_place_and_told_if_there_is_none(stream, ground):
    commit_task("a")
    execute("SELECT pg_switch_wal()")
    commit_task("b")
    ship(stream)
    name = max(n.removesuffix(".zst") for n, _ in ground.stores()[0].names(FOLDER) if n.endswith(".zst"))
    files = [place / ask_server().system / FOLDER / f"{name}.zst" for place in (ground.a, ground.b)]
    whole = files[0].read_bytes()
    damage(files[0])

    assert len(Sources(ground.stores(), None).look().read(name)) == stream.facts.segment_bytes
    with pytest.raises(OSError, match="damaged"):
        Sources(ground.stores()[:1], None).look().read(name)
    files[0].write_bytes(whole)


def test_a_place_that_is_away_is_told_and_gets_what_it_missed(stream, ground):
    ship(stream)
    os.rename(ground.b, ground.folder / "elsewhere")
    commit_task("one")
    execute("SELECT pg_switch_wal()")
    commit_task("two")
    execute("SELECT pg_switch_wal()")
    commit_task("three")
    ship(stream)
    ship(stream)  # what all that answer have has left the spool

    here, away = read_backups()
    assert (here.error, here.late) == ("", False)
    assert "is not there. Make it, or mount its disk" in away.error
    assert not ground.b.exists()

    os.rename(ground.folder / "elsewhere", ground.b)
    b = ground.stores()[1]
    assert has_hole(b, stream.spool, stream.facts.segment_bytes)
    for shipper in stream.shippers:
        shipper._ask_again = 0.0
    covered = BackupPlace.objects.get(number=2).covered_until
    stream.run_once()
    stream.note()  # nothing is said to be there before what it missed is
    assert stream.shippers[1].hole and BackupPlace.objects.get(number=2).covered_until == covered
    assert not has_hole(b, stream.spool, stream.facts.segment_bytes)
    stream.shippers[1]._look_again = 0.0
    ship(stream)
    names = [{name for name, _ in store.names(FOLDER) if not piece_of(name)} for store in ground.stores()]
    assert names[0] <= names[1]
    assert [one.error for one in read_backups()] == ["", ""]


def test_a_server_that_refuses_us_ends_the_restore(stream, ground):
    ship(stream)
    stream.close()
    given = our_connection().settings_dict
    name = given["USER"]
    given["USER"] = "stranger"  # the sessions that there are stay
    of_a_version_before = {one: told for one, told in ground.base.to_json().items() if one not in ("user", "database")}
    for store in ground.stores():
        store.put_json(f"{ground.base.folder}/{ABOUT}", of_a_version_before)
    try:
        with pytest.raises(BackupError, match=r'role "stranger" does not exist.*Set DATABASE_URL'):
            restore(ground.folder / "refused")
    finally:
        given["USER"] = name
        for store in ground.stores():
            store.put_json(f"{ground.base.folder}/{ABOUT}", ground.base.to_json() | {"of a later version": 1})
    assert bases_in(ground.stores()[0]) == [ground.base]
    ident = (ground.folder / "refused.unfinished" / "server" / "pg_ident.conf").read_text()
    assert ident.splitlines()[0].endswith('"stranger"')


def test_a_killed_receiver_and_a_new_stream_go_on_without_a_hole(stream, ground):
    commit_task("one")
    ship(stream)
    os.kill(stream.receiver._process.pid, signal.SIGKILL)
    stream.receiver._process.wait()
    commit_task("two")
    ship(stream)
    stream.close()
    execute("SELECT pg_switch_wal()")
    commit_task("three")

    with streaming() as again:
        ship(again)
        with pytest.raises(BackupError, match="already received into"):
            Stream()
        size = again.facts.segment_bytes
        assert not any(has_hole(store, again.spool, size) for store in ground.stores())
    data = Sources(ground.stores(), None).look()
    assert b"three" in data.read(data.segments_since(ground.base)[-1])


def test_before_a_gap_the_last_pages_that_have_arrived_go_to_the_places(stream, ground):
    ship(stream)
    commit_task("the last before the gap")
    partial = lambda: next(path for path in stream.spool.iterdir() if path.name.endswith(".partial"))  # noqa: E731
    wait_until(lambda: stream.receiver.run_once() or b"the last before the gap" in partial().read_bytes(), SECONDS)
    name = partial().name.removesuffix(".partial")
    stream.receiver.stop()
    stream.receiver._start_at = float("inf")
    stream.receiver.error = "requested WAL segment has already been removed"

    stream._receive()
    assert partial().exists()
    wait_until(lambda: stream.run_once() or not stream.receiver.gap, SECONDS)

    assert not [path for path in stream.spool.iterdir() if path.name.startswith(name)]
    for store in ground.stores():
        assert b"the last before the gap" in Sources([store], None).look().read(name)


def test_a_slot_that_cannot_be_dropped_yet_ends_no_stream(stream, monkeypatch):
    ship(stream)
    stream.receiver.stop()
    stream.receiver.error = "can no longer access replication slot"
    monkeypatch.setattr(stream.receiver, "_start_at", float("inf"))
    monkeypatch.setattr("tasks_app.backup.receiver.slot_name", lambda: "no_such_slot")

    there = sorted(stream.spool.iterdir())
    assert (stream.receiver.begin_anew(), sorted(stream.spool.iterdir())) == (False, there)


def test_after_a_gap_it_does_not_go_on_from_where_the_slot_was(stream):
    ship(stream)
    stream.receiver.stop()
    stream.receiver.error = "requested WAL segment 000000010000000000000009 has already been removed"
    there = "SELECT count(restart_lsn) FROM pg_replication_slots WHERE slot_name = %s"
    assert execute(there, [slot_name()]) == [(1,)]

    wait_until(stream.receiver.begin_anew, SECONDS, describe=lambda: execute(there, [slot_name()]))

    assert execute(there, [slot_name()]) == [(0,)]


@contextmanager
def waited_for() -> Iterator[None]:
    """Commits that want to be on the disk wait until the backup has them, too."""
    execute("ALTER SYSTEM SET synchronous_standby_names = 'punctual_backup'")
    execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        execute("ALTER SYSTEM RESET synchronous_standby_names")
        execute("SELECT pg_reload_conf()")


def test_a_synchronous_stream_has_each_commit_when_it_returns(stream, ground):
    ship(stream)
    stream.close()
    with streaming(synchronous=True) as again:
        again.run_once()
        sync = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        with waited_for():
            wait_until(lambda: execute(sync) == [(1,)], SECONDS, describe=lambda: again.receiver.error)
            commit_task("on two disks")
            parts = [path.read_bytes() for path in again.spool.iterdir() if path.name[:8].isalnum()]
            # Commits wait for a receiver that has died: whoever starts it again must not.
            os.kill(again.receiver._process.pid, signal.SIGKILL)
            wait_until(lambda: execute(sync) == [(0,)], SECONDS)
            noting = threading.Thread(target=_note_durably, args=[again], daemon=True)
            noting.start()
            noting.join(30)
            stuck = noting.is_alive()
            wait_until(lambda: again.run_once() or execute(sync) == [(1,)], SECONDS)
            noting.join()
        noted(silent=50.0)
        touch()
        assert look().standbys == {}  # whoever receives the log for a backup is never promoted

    assert any(b"on two disks" in part for part in parts)  # and nothing was shipped since
    assert not stuck


def _note_durably(stream: Stream) -> None:
    """In a session whose commits wait, as they do where nobody has set anything else."""
    execute("SET synchronous_commit = on")
    stream.note()
    close_connections()


def test_a_place_is_behind_the_last_moment_that_it_has_passed_not_the_last_note(stream):
    ship(stream)
    commit_task("between two notes")
    committed = now()
    stream.sample()
    _, position = stream._samples[-1]

    def there() -> bool:
        stream.receiver.run_once()
        return all((one.run_once(), (one.position or 0) > position - LEAST_RECORD)[1] for one in stream.shippers)

    wait_until(there, SECONDS)
    stream.note()

    assert all(at >= committed for at in _covered())


def _covered() -> list[datetime | None]:
    return list(BackupPlace.objects.values_list("covered_until", flat=True))


def test_a_place_that_has_got_further_is_noted_before_the_next_note_is_due(stream, monkeypatch):
    stopped = threading.Event()
    running = threading.Thread(target=stream.run, args=[stopped])
    running.start()
    try:
        wait_until(lambda: all(one.position for one in stream.shippers), SECONDS)
        monkeypatch.setattr("tasks_app.backup.stream.IDLE_SECONDS", 3600.0)
        wait_until(lambda: stream._note_at > time.monotonic() + 3000, SECONDS)
        commit_task("after the last note")
        committed = now()
        # None of a place that was noted before it had passed a sample.
        wait_until(lambda: all(at and at >= committed for at in _covered()), SECONDS)
    finally:
        stopped.set()
        running.join()


def test_what_a_note_has_written_is_no_reason_for_the_next(stream, monkeypatch):
    monkeypatch.setattr("tasks_app.backup.stream.NOTE_SECONDS", 0.0)

    def take(further_than: int) -> bool:
        stream.receiver.run_once()
        return all((one.run_once(), (one.position or 0) > further_than - LEAST_RECORD)[1] for one in stream.shippers)

    def settled() -> bool:
        """Not if the server has written something of its own meanwhile, as it does now and then."""
        wait_until(lambda: take(execute(FLUSHED)[0][0]), SECONDS)
        stream.note()
        stream.sample()
        wait_until(lambda: take(stream._own_until), SECONDS)
        return not stream._is_news()

    wait_until(settled, SECONDS)
    commit_task("news")
    wait_until(lambda: take(execute(FLUSHED)[0][0]), SECONDS)

    assert stream._is_news()


def test_a_place_that_is_away_is_news(stream, monkeypatch):
    monkeypatch.setattr("tasks_app.backup.stream.NOTE_SECONDS", 0.0)
    stream.note()
    stream.sample()
    stream.shippers[0].error = "No such file or directory"

    assert stream._is_news()


def test_a_restored_server_is_known_to_wait_for_whom_the_original_waited_for(tmp_path):
    assert waits_for(tmp_path) == ""
    (tmp_path / "postgresql.conf").write_text("#synchronous_standby_names = 'x'\nsynchronous_standby_names = 'db2'\n")
    assert waits_for(tmp_path) == "db2"
    (tmp_path / "postgresql.auto.conf").write_text("synchronous_standby_names = 'punctual_backup'\n")
    assert waits_for(tmp_path) == "punctual_backup"
    (tmp_path / "postgresql.auto.conf").write_text("synchronous_standby_names = ''\n")
    assert waits_for(tmp_path) == ""


def test_over_a_gap_in_the_log_the_stream_goes_on_with_a_new_base(stream, ground, caplog):
    commit_task("before the gap")
    ship(stream)
    stream.close()
    drop_slot()
    for number in range(3):
        commit_task(f"in the gap {number}")
        execute("SELECT pg_switch_wal()")
    execute("CHECKPOINT")  # without a slot nobody keeps the log

    with streaming() as again:
        again._tended = Tended(again)
        wait_until(lambda: again.run_once() or "backup.gap" in caplog.text, SECONDS, describe=lambda: caplog.text)
        assert again._tended.base_wanted

        def tended() -> bool:
            again.run_once()
            with suppress(BackupError):  # until the log arrives again
                again._tended._tend()
                return True
            return False

        wait_until(tended, SECONDS, describe=lambda: again.receiver.error)
        commit_task("after the gap")
        ship(again)
    new = bases_in(ground.stores()[0])[-1]
    try:
        assert new.label != ground.base.label
        sources = Sources(ground.stores(), None).look()
        assert sources.missing(new) == {} and sources.missing(ground.base) != {}

        assert b"after the gap" in sources.read(sources.segments_since(new)[-1])
        if FULL:  # what else a base and its log come to, the tests above have shown
            keys, _, _ = keys_in(restore(ground.folder / "gap"))
            assert {"before the gap", "in the gap 2", "after the gap"} <= keys
    finally:
        for store in ground.stores():
            store.delete_folder(ground.base.folder)  # it leads nowhere any more
        ground.base = new


def test_a_base_that_was_not_finished_does_not_exist(stream, ground):
    half = ground.a / ask_server().system / "base" / "20200101T000000-000Z"
    half.mkdir(parents=True)
    (half / "base.tar.zst.tmp").write_bytes(b"half")

    a, b = ground.stores()
    assert [one.label for one in bases_in(a)] == [one.label for one in bases_in(b)]
    code, told, _ = backup("prune", "--dry-run")
    assert (code, "20200101T000000-000Z would go" in told, half.exists()) == (0, True, True)
    code, told, _ = backup("prune")
    assert (code, "20200101T000000-000Z gone" in told, half.exists()) == (0, True, False)


def test_a_base_is_read_no_faster_than_is_allowed_and_one_that_fails_leaves_nothing(stream, ground, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_MB_A_SECOND": 20.5}
    asked = []

    def see(done: int, total: int) -> None:
        asked.extend(execute("SELECT query FROM pg_stat_activity WHERE query LIKE 'BASE_BACKUP%%'"))
        raise BackupError("enough seen")

    facts = ask_server()
    before = [[one.label for one in bases_in(store)] for store in ground.stores()]
    with pytest.raises(BackupError, match="enough seen"):
        take_base(facts, programs_for(facts.major), ground.stores(), fast=True, progress=see)

    assert "MAX_RATE 20500" in asked[0][0]
    assert [[one.label for one in bases_in(store)] for store in ground.stores()] == before


def test_a_segment_stays_in_the_spool_until_it_was_compared_with_the_place(stream):
    execute("SELECT pg_switch_wal()")
    ship(stream)
    execute("SELECT pg_switch_wal()")
    commit_task("y")
    ship(stream)
    name = "000000010000000000000000"  # older than all: the last one stays anyway
    (stream.spool / name).write_bytes(b"")
    try:
        for shipper in stream.shippers:
            shipper.whole.add(name)
        stream._clean_spool()
        assert (stream.spool / name).exists()
        for shipper in stream.shippers:
            shipper._compared.add(name)
        stream._clean_spool()
        assert not (stream.spool / name).exists()
    finally:
        (stream.spool / name).unlink(missing_ok=True)


def test_another_servers_log_under_our_names_is_refused(stream, ground):
    ship(stream)
    execute("SELECT pg_switch_wal()")
    commit_task("x")
    ship(stream)
    name = max(path.name for path in stream.spool.iterdir() if len(path.name) == 24)
    stream.close()
    file = ground.b / ask_server().system / FOLDER / f"{name}.zst"
    whole = file.read_bytes()
    file.write_bytes(wrap(bytes(stream.facts.segment_bytes)))
    with streaming() as again:
        again.run_once()
        assert [bool(one.error) for one in again.shippers] == [False, True]
        assert "has another log under the name" in again.shippers[1].error
    file.write_bytes(whole)


def test_a_base_of_another_timeline_is_followed_by_a_new_one_at_once(stream, ground):
    ship(stream)
    tended = Tended(stream)
    tended._tend()
    assert {one.label for store in ground.stores() for one in bases_in(store)} == {ground.base.label}
    other = replace(ground.base, timeline=ground.base.timeline + 1).to_json()
    for store in ground.stores():
        store.put_json(f"{ground.base.folder}/{ABOUT}", other)
    try:
        tended._tend()
        tended._tend()
        made = [[one.label for one in bases_in(store) if one.label != ground.base.label] for store in ground.stores()]
    finally:
        for store in ground.stores():
            store.put_json(f"{ground.base.folder}/{ABOUT}", ground.base.to_json())
    assert (len(made[0]), made[1]) == (1, made[0])
    for store in ground.stores():
        store.delete_folder(f"base/{made[0][0]}")


@contextmanager
def taken_out(ground: Ground, timeline: str) -> Iterator[None]:
    """What another server has put into the places is gone afterwards: other tests share them."""
    before = {store: {base.label for base in bases_in(store)} for store in ground.stores()}
    try:
        yield
    finally:
        for store, labels in before.items():
            for name in [name for name, _ in store.names(FOLDER) if name.startswith(timeline)]:
                store.delete(f"{FOLDER}/{name}")
            for label in {base.label for base in bases_in(store)} - labels:
                store.delete_folder(f"base/{label}")


def test_a_copy_writes_nothing_among_the_backups_before_somebody_says_what_it_is(stream, ground, settings):
    look()
    commit_task("before")
    ship(stream)
    stream.close()
    copy = restore(ground.folder / "copy")
    with taken_out(ground, "00000002"), served(copy) as server:
        commit_task("of the original")
        with streaming() as original:
            ship(original)
            later, _ = take_base(original.facts, original.programs, original.places, fast=True)
            ship(original)
        given, own = settings.PUNCTUAL, {"BACKUP_DATABASE_URL": server.url, "BACKUP_SPOOL": str(ground.folder / "own")}
        settings.PUNCTUAL = given | own
        server.ask(lambda: _held_until_resumed(ground))
        settings.PUNCTUAL = given
        # Two servers have gone on from here. Each base leads to what its own has done since.
        first = keys_in(restore(ground.folder / "first", label=ground.base.label))[0]
        second = keys_in(restore(ground.folder / "second", label=later.label))[0]

    assert {"before", "of the copy", "of the new primary"} <= first and "of the original" not in first
    assert {"before", "of the original"} <= second and "of the new primary" not in second


def _held_until_resumed(ground: Ground) -> None:
    """In a copy: nothing goes to the places, and nothing from there, until it is the installation's database."""
    there = [store.place.files(store.root) for store in ground.stores()]
    with streaming() as stream:
        stream.run_once()
        assert ([RULE in one.error for one in read_backups()], stream.receiver.alive) == ([True, True], False)
    for words in (["run", "--fast"], ["prune"]):
        with pytest.raises(CommandError, match="This database is in quarantine") as refused:
            backup(*words)
        assert refused.value.returncode == 2
    with streaming(synchronous=True) as stream:  # commits may wait for it, so it receives
        commit_task("of the copy")
        wait_until(
            lambda: stream.run_once() or spooled(stream.spool, stream.facts.segment_bytes),
            SECONDS,
            describe=lambda: stream.receiver.error,
        )
        stream.run_once()
        Tended(stream).run_once()
        assert [store.place.files(store.root) for store in ground.stores()] == there
        quarantine.rehearse(operator())
        stream.run_once()
        assert stream.hold and [store.place.files(store.root) for store in ground.stores()] == there
        quarantine.resume(Answer(Choice.RUN), operator())
        commit_task("of the new primary")
        ship(stream)
        assert [one.error for one in read_backups()] == ["", ""]


def test_an_installation_that_somebody_has_stopped_is_backed_up_when_it_goes_on(stream):
    look()
    quarantine.enter(operator())
    commit_task("in quarantine")
    stream.run_once()
    assert "This database is in quarantine" in stream.hold.why
    quarantine.resume(Answer(Choice.RUN), operator())
    ship(stream)
    assert stream.hold is None


def test_the_command_tells_people_and_machines(stream, ground):
    ship(stream)
    stream.look()
    # A place is said to be behind by notes that it has passed, which takes a second round.
    wait_until(lambda: stream.run_once() or not any(one.late for one in read_backups()), SECONDS, describe=read_backups)
    code, told, _ = backup()
    assert (code, told.count("behind"), told.count(ground.base.label)) == (0, 2, 2)
    for words in (["--json"], ["--json", "status"], ["status", "--json"]):
        assert [one["base"] for one in json.loads(backup(*words)[1])] == [ground.base.label] * 2
    code, told, _ = backup("list", "--json")
    assert (code, {one["label"] for one in json.loads(told)}) == (0, {ground.base.label})
    assert backup("list")[1].count(ground.base.label) == 2
    empty, away = ground.folder / "empty", ground.folder / "away"
    empty.mkdir()
    code, told, _ = backup("list", "--from", str(ground.a), "--from", str(empty), "--from", str(away))
    assert (code, ground.base.label in told, f"! {empty}: it is empty." in told) == (1, True, True)
    assert f"! {away}: The folder {away} is not there" in told
    assert vacant([str(ground.a), str(empty)], ask_server().system).keys() == {str(empty)}
    with pytest.raises(CommandError, match="has no offset from UTC"):
        call_command("backup", "restore", "/x", "--to", "2026-11-16T14:05:00")


def test_nothing_is_done_without_a_place(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_URLS": []}
    for verb in ("status", "run", "stream", "verify", "prune"):
        with pytest.raises(CommandError, match="There is no place for backups") as told:
            call_command("backup", verb)
        assert told.value.returncode == 2


def test_no_secret_of_a_url_is_shown(settings, tmp_path):
    url = "postgresql://u:pass@h/d?sslpassword=hidden&sslmode=require"
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_DATABASE_URL": url}
    assert "sslmode=require" in link().conninfo
    assert not any(word in link().conninfo for word in ("hidden", "pass"))
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_DATABASE_URL": "postgresql://u:sec%zzret@h/d"}
    with pytest.raises(BackupError, match="can't be read") as told:
        link()
    assert told.value.__suppress_context__ and "zzret" not in str(told.value)
    with pytest.raises(BackupError) as told:
        the_system([f"{tmp_path}?secret_key=hidden"], None)
    assert "hidden" not in str(told.value)


def test_programs_of_another_version_are_refused(ground, settings, tmp_path):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_PROGRAMS": str(tmp_path)}
    with pytest.raises(CommandError, match=r"has not all of pg_basebackup.*BACKUP_PROGRAMS"):
        call_command("backup", "run")
    for name in ("pg_basebackup", "pg_receivewal", "pg_verifybackup", "pg_waldump", "postgres"):
        program: Path = tmp_path / name
        program.write_text("#!/bin/sh\necho 'pg_basebackup (PostgreSQL) 9.6.1'\n")
        program.chmod(0o755)
    with pytest.raises(CommandError, match=r"has version 9\)"):
        call_command("backup", "run")


def test_a_process_of_another_environment_has_no_business_with_the_backups(settings):
    look()
    Installation.objects.update(environment="production")
    assert held() is None

    settings.PUNCTUAL = settings.PUNCTUAL | {"ENVIRONMENT": "staging"}

    with pytest.raises(BackupError, match=r"belongs to the environment 'production'.*no business of this process"):
        refuse_copy()
