"""What a copy may do to the backups of its original: nothing, until somebody says that it is the original now."""

import os
import signal
from collections.abc import Iterator

import pytest
from django.core.management import CommandError, call_command

from tasks_app.backup.ownership import held
from tasks_app.backup.stream import Stream, Tended
from tasks_app.core.overdue import Answer, Choice
from tasks_app.engine.operations import quarantine
from tasks_app.engine.watch.backup_status import read_backups
from tasks_app.lifecycle.installation import look
from tasks_app.models import BackupPlace
from tests.support.backup import SECONDS, Ground, commit_task, ship, streaming
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.quarantine import installation, noted, using
from tests.support.stack import url_of_test_database
from tests.support.wait import wait_until

pytestmark = commits


@pytest.fixture(scope="module")
def _ground() -> Iterator[Ground]:
    ground = Ground()
    yield ground
    ground.discard()


@pytest.fixture
def ground(_ground, settings, monkeypatch) -> Ground:
    monkeypatch.setattr("tasks_app.backup.stream.WHOSE_SECONDS", 0.0)
    settings.PUNCTUAL = settings.PUNCTUAL | _ground.settings()
    return _ground


def files(ground: Ground) -> list[list]:
    return [sorted(store.place.files(store.root)) for store in ground.stores()]


def copied() -> None:
    """From now on this is a copy, and known to be one."""
    noted(timeline=7)
    quarantine.enter(operator("a clone"))


def resume() -> None:
    quarantine.resume(Answer(Choice.RUN), operator())


def refused(*words: str) -> str:
    with pytest.raises(CommandError) as error:
        call_command("backup", *words)
    assert error.value.returncode == 2
    return str(error.value)


def test_a_stream_stops_while_its_database_is_in_quarantine_and_then_goes_on(ground):
    look()
    with streaming() as stream:
        commit_task("before")
        ship(stream)
        copied()
        commit_task("meanwhile")
        stream.run_once()
        there = files(ground)

        stream.run_once()
        Tended(stream).run_once()

        assert (files(ground), stream.receiver.alive) == (there, False)
        assert all("is in quarantine (a clone)." in one.error for one in read_backups())
        quarantine.rehearse(operator())
        stream.run_once()
        assert (files(ground), "is used for a rehearsal." in stream.hold.why) == (there, True)
        resume()
        ship(stream)
        assert [one.error for one in read_backups()] == ["", ""]
        assert files(ground) != there


@pytest.mark.parametrize("words", [["run", "--fast"], ["prune"], ["prune", "--dry-run"]], ids=" ".join)
def test_in_quarantine_a_command_is_refused_and_says_the_way_out(ground, words):
    copied()
    there = files(ground)

    told = refused(*words)

    assert told.startswith("This database is in quarantine (a clone). A copy has the same backups as its original")
    assert (told.endswith("`manage.py quarantine show`."), files(ground)) == (True, there)


def test_a_copy_is_known_before_any_beat_has_looked_and_nothing_is_concluded(ground):
    assert held() is None  # a new installation, which nobody has seen
    noted(timeline=7)

    told = refused("run", "--fast")

    assert told.startswith("This database may be a copy: its timeline was 7, and is 1 now")
    with streaming() as stream:
        stream.run_once()
        assert not stream.receiver.alive
    assert installation().state == "ACTIVE"


def test_a_standby_of_ours_that_was_promoted_goes_on(ground):
    noted(timeline=7, standbys={"": 1.0})

    assert held() is None
    with streaming() as stream:
        stream.run_once()
        assert stream.receiver.alive


def test_nothing_is_done_to_the_database_of_another_environment(ground, settings):
    look()
    installation_of("production")
    BackupPlace.objects.create(place="/mnt/theirs", number=1)
    settings.PUNCTUAL = settings.PUNCTUAL | {"ENVIRONMENT": "staging"}

    assert refused("prune").startswith("This database belongs to the environment 'production'")
    with streaming(synchronous=True) as stream:
        stream.run_once()
        assert not stream.receiver.alive
    assert [one.place for one in BackupPlace.objects.all()] == ["/mnt/theirs"]


def installation_of(environment: str) -> None:
    row = installation()
    row.environment = environment
    row.save()


def test_a_synchronous_stream_receives_in_quarantine_since_commits_wait_for_it(ground):
    copied()
    there = files(ground)
    with streaming(synchronous=True) as stream:
        commit_task("confirmed")
        wait_until(lambda: stream.run_once() or _arrived(stream, b"confirmed"), SECONDS)

        Tended(stream).run_once()  # would make a base
        assert (stream.receiver.alive, files(ground)) == (True, there)
        resume()
        ship(stream)
    assert files(ground) != there


def _arrived(stream: Stream, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in stream.spool.iterdir() if path.name[:8].isalnum())


def test_nobody_is_received_from_before_it_is_known_who_it_is(ground, settings):
    look()
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKUP_DATABASE_URL": url_of_test_database()}
    with streaming() as stream:
        commit_task("x")
        ship(stream)
        os.kill(stream.receiver._process.pid, signal.SIGKILL)
        stream.receiver._process.wait()
        with using(HOST="/nowhere"):
            stream._receive()
            stream.receiver._start_at = 0.0
            stream._receive()
            assert not stream.receiver.alive
        wait_until(lambda: stream.run_once() or stream.receiver.alive, SECONDS)
