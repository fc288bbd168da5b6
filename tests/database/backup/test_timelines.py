"""Two servers that went on from the same point, with backups in the same places: each moment of either comes back."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import call_command

from tasks_app.backup.base import Base, bases_in, take_base
from tasks_app.backup.errors import BackupError
from tasks_app.backup.programs import programs_for
from tasks_app.backup.restore import Restored, plan, restore, served
from tasks_app.backup.server import ask_server
from tasks_app.backup.shipping import FOLDER, has_hole
from tasks_app.backup.sources import Sources
from tasks_app.backup.stream import Tended
from tasks_app.backup.timelines import Ended, Timeline, Timelines, written_at, written_last
from tasks_app.core.overdue import Answer, Choice
from tasks_app.core.wal import Segment, segment_of
from tasks_app.engine.operations import quarantine
from tasks_app.lifecycle.installation import look
from tasks_app.models import ScheduleTask
from tests.support.backup import Ground, begun, commit_task, now, ship, streaming
from tests.support.marks import commits
from tests.support.operators import operator

pytestmark = commits


@dataclass
class Forked:
    """The original on timeline 1, and a restored server that went on from it on timeline 2."""

    ground: Ground
    early: Base  # on timeline 1, before the fork
    late: Base  # on timeline 1, after it
    new: Base  # on timeline 2
    before: datetime  # the fork
    mistake: datetime  # after it, when there was no timeline 2
    both: datetime  # when both were written


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
def forked(ground, settings) -> Forked:
    """All tests share it: it takes two bases, and a server."""
    if ground.forked is None:
        ground.forked = _fork(ground, settings)
    return ground.forked


def _fork(ground: Ground, settings) -> Forked:
    look()
    early = begun()
    with streaming() as stream:
        commit_task("before")
        before = now()
        commit_task("wrong")
        ship(stream)
        late, _ = take_base(stream.facts, stream.programs, stream.places, fast=True)
        mistake = now()
        commit_task("after the mistake")
        ship(stream)
    copy = restore(ground.folder / "copy", to=before)
    given = settings.PUNCTUAL
    with served(copy) as server:
        own = {"BACKUP_DATABASE_URL": server.url, "BACKUP_SPOOL": str(ground.folder / "own")}
        settings.PUNCTUAL = given | own
        there = [store.place.files(store.root) for store in ground.stores()]
        new = server.ask(lambda: _go_on(ground, there))
        settings.PUNCTUAL = given
        both = now()
        server.ask(lambda: commit_task("second on 2"))
        with streaming() as stream:
            commit_task("last on 1")
            ship(stream)
        settings.PUNCTUAL = given | own
        server.ask(_ship_last)
        settings.PUNCTUAL = given
    return Forked(ground, early, late, new, before, mistake, both)


def _go_on(ground: Ground, there: list) -> Base:
    """In the copy: nothing goes to the places at first; once it is the original's successor, a base is made at once."""
    with streaming() as stream:
        stream.run_once()
        Tended(stream).run_once()
        assert (stream.receiver.alive, "restored from" in stream.hold.why) == (False, True)
        assert [store.place.files(store.root) for store in ground.stores()] == there
        quarantine.resume(Answer(Choice.RUN), operator())
        commit_task("first on 2")
        ship(stream)
        Tended(stream)._tend()
        commit_task("later on 2")
        ship(stream)
    return bases_in(ground.stores()[0])[-1]


def _ship_last() -> None:
    with streaming() as stream:
        commit_task("last on 2")
        ship(stream)


def keys_in(restored: Restored) -> set[str]:
    with served(restored) as server:
        return server.ask(lambda: set(ScheduleTask.objects.values_list("biz_key", flat=True)))


def test_a_moment_that_only_the_older_timeline_has_comes_back_with_one_command(forked):
    done = restore(forked.ground.folder / "mistake", to=forked.mistake)

    # A number of its own, though the log has timeline 2 already.
    assert (done.base, done.followed, done.timeline) == (forked.late.label, 1, 3)
    assert keys_in(done) == {"before", "wrong"}


def test_the_last_moment_is_that_of_the_timeline_that_was_written_last(forked):
    done = restore(forked.ground.folder / "last")

    assert (done.base, done.followed) == (forked.new.label, 2)
    assert keys_in(done) == {"before", "first on 2", "later on 2", "second on 2", "last on 2"}
    assert [one.startswith("timeline 1; written from") for one in done.others] == [True]


def test_a_moment_that_two_timelines_have_is_asked_about(forked):
    with pytest.raises(BackupError, match="is on 2 timelines") as told:
        restore(forked.ground.folder / "both", to=forked.both)

    assert "timeline 2, which left timeline 1 at " in str(told.value)
    assert str(told.value).endswith("Say which one with --timeline.")
    assert not (forked.ground.folder / "both.unfinished").exists()
    ways = [plan(forked.ground.folder / "both", to=forked.both, timeline=one) for one in (1, 2)]
    assert [(one.base, one.timeline, one.missing) for one in ways] == [
        (forked.late.label, 1, {}),
        (forked.new.label, 2, {}),
    ]


def test_a_base_from_before_the_fork_leads_to_both(forked):
    def of(number: int) -> set[int]:
        names = sources.segments_since(forked.early, number)
        return {segment.timeline for name in names if (segment := segment_of(name, forked.early.segment_bytes))}

    sources = Sources(forked.ground.stores(), None).look()
    assert [sources.leads(forked.early, one) for one in (1, 2)] == [True, True]
    assert [sources.leads(forked.late, one) for one in (1, 2)] == [True, False]
    assert [sources.leads(forked.new, one) for one in (1, 2)] == [False, True]
    assert (of(1), of(2)) == ({1}, {1, 2})
    lines = Timelines(sources, programs_for(ask_server().major))
    assert lines.choose(forked.before) == (forked.early, 1)
    assert lines.choose(label=forked.early.label)[1] == 2
    with pytest.raises(BackupError, match="is of timeline 1 and doesn't lead to timeline 2"):
        lines.choose(label=forked.late.label, wanted=2)
    with pytest.raises(BackupError, match="There is no timeline 5 in the places; there is 1 and 2"):
        lines.choose(wanted=5)


def test_from_an_old_base_the_new_timeline_is_followed_over_the_fork(forked):
    done = restore(forked.ground.folder / "over", label=forked.early.label)

    assert (done.followed, done.lost) == (2, {})
    assert {"last on 2", "wrong"} & keys_in(done) == {"last on 2"}


def test_people_are_told_which_timeline_it_is(forked):
    out = StringIO()
    call_command("backup", "list", stdout=out)
    assert (out.getvalue().count(" timeline 1, "), out.getvalue().count(" timeline 2, ")) == (4, 2)
    assert out.getvalue().count("timeline 2 left timeline 1 at ") == 2
    out = StringIO()
    call_command("backup", "restore", "/nowhere/x", "--dry-run", "--timeline", "1", stdout=out)
    assert "It would follow timeline 1. There are:" in out.getvalue()
    assert "  timeline 2, which left timeline 1 at " in out.getvalue()


def test_a_hole_in_the_new_timeline_is_not_filled_by_the_old_one(forked):
    store, size = forked.ground.stores()[0], forked.new.segment_bytes
    spool = forked.ground.folder / "none"
    spool.mkdir(exist_ok=True)
    assert not has_hole(store, spool, size)
    ahead = forked.new.start // size + 20
    of_old = [Segment(1, number, size).name for number in range(forked.new.start // size, ahead)]
    there = {name.partition(".")[0] for name, _ in store.names(FOLDER) if name.endswith(".zst")}
    put = [f"{FOLDER}/{name}.zst" for name in [*of_old, Segment(2, ahead, size).name] if name not in there]
    for name in put:
        store.put(name, b"")
    try:
        assert has_hole(store, spool, size)
        sources = Sources([store], None).look()
        assert sources.missing(forked.new, 2) and not sources.missing(forked.late, 1)
    finally:
        for name in put:
            store.delete(name)


def hour(number: int) -> datetime:
    return datetime(2026, 11, 18, number, tzinfo=UTC)


def old(until: int, position: int) -> Timeline:
    return Timeline(1, None, 0, Ended(hour(1), 10), Ended(hour(until), position))


NEW = Timeline(2, 1, 500, Ended(hour(14), 510), Ended(hour(20), 900))


def test_between_the_old_server_and_the_new_one_the_new_one_is_followed_if_it_has_all_of_the_old():
    assert written_at(hour(13), [old(12, position=490), NEW]) == NEW

    with pytest.raises(BackupError, match="Nothing was committed at 2026-11-18T13:00:00") as told:
        written_at(hour(13), [old(12, position=700), NEW])
    assert str(told.value).endswith("say --timeline 1 and leave --to out.")


def test_what_cannot_be_read_is_asked_about_and_the_newest_is_the_last():
    unreadable = Timeline(2, 1, 500, readable=False)

    assert written_last([old(21, position=700), NEW]).number == 1
    assert written_last([old(21, position=700), unreadable]) == unreadable
    with pytest.raises(BackupError, match=r"is on 2 timelines.*can't be read"):
        written_at(hour(12), [old(21, position=700), unreadable])


def test_a_moment_after_all_is_looked_for_on_the_last_and_one_before_the_new_server_on_the_old():
    assert written_at(hour(23), [old(12, position=490), NEW]) == NEW
    assert written_at(hour(3), [old(12, position=700), NEW]).number == 1
    assert written_at(hour(15), [old(12, position=700), NEW]) == NEW
