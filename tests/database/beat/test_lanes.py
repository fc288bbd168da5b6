"""Lanes: paused with a reason, and resumed."""

import os
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from django_punctual import schedule
from tasks_app.core.errors import InvalidTask
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes
from tasks_app.engine.operations import lanes
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.claim import peek
from tasks_app.lifecycle.start import start
from tasks_app.models import LanePause, TaskBatch
from tests.support.audit import deeds
from tests.support.engine import anybodys, claim_due, row
from tests.support.marks import commits
from tests.support.moves import State, claimed, scheduled, started, state
from tests.support.overlap import overlap
from tests.support.testapp.models import Effect

pytestmark = commits


def pause(lane: str) -> None:
    lanes.pause(lane, reason="the other system is down", by="ana")


def resume(lane: str) -> None:
    lanes.resume(lane, reason="it is up again", by="ben")


def lane(*words: str) -> str:
    out = StringIO()
    call_command("lane", *words, stdout=out)
    return out.getvalue()


def slots() -> dict[str, int]:
    return {view.lane: view.slots for view in peek("test", anybodys()).lanes}


@pytest.fixture
def worker():
    nodes.report_worker(nodes.new_node_id(), "w1", 2, list(LANES))


def test_a_paused_lane_has_no_room_and_the_others_have_theirs(worker):
    pause("low")

    assert slots() == dict.fromkeys(LANES, 2) | {"low": 0}

    resume("low")
    assert slots() == dict.fromkeys(LANES, 2)


def test_a_batch_of_a_lane_that_was_paused_before_its_start_goes_back_untouched():
    [task] = scheduled("a")
    before = row(task)
    [batch] = claim_due()
    pause("default")

    report = run_batch(batch.batch_no, guarded=False)

    assert not report.taken
    assert (state(task), row(task).due_at) == (State("INIT", due=True), before.due_at)
    assert not Effect.objects.exists()
    assert TaskBatch.objects.get().finished_at is not None


def test_a_batch_that_has_started_is_not_stopped_by_a_pause():
    batch = started("a")

    pause("default")

    assert start(batch.batch_no, "another delivery") is None
    assert row(batch.tasks[0].id).status == "RUNNING"


def test_a_pause_that_commits_while_a_batch_starts_lets_it_run():
    batch_no = claimed("a")

    batch, _ = overlap(lambda: start(batch_no, "worker"), lambda: pause("default"))

    assert len(batch.tasks) == 1


def test_a_start_beside_a_resume_runs_or_gives_back_and_never_leaves_the_batch_to_its_lease():
    batch_no = claimed("a")
    pause("default")

    _, batch = overlap(lambda: resume("default"), lambda: start(batch_no, "worker"))

    assert batch is None
    assert TaskBatch.objects.get().finished_at is not None
    assert len(claim_due()) == 1


def test_who_paused_and_resumed_is_written_down_once_with_the_reason():
    for _ in range(2):
        pause("low")
    for _ in range(2):
        resume("low")

    entries = deeds().order_by("id").values_list("actor", "verb", "subject", "outcome", "reason")
    assert list(entries) == [
        ("ana", "pause", "lane low", "paused", "the other system is down"),
        ("ben", "resume", "lane low", "resumed", "it is up again"),
    ]


def test_pausing_twice_keeps_the_first_reason():
    pause("low")

    assert lanes.pause("low", reason="another", by="ben") is False
    assert LanePause.objects.get().reason == "the other system is down"


def test_resuming_wakes_the_dispatchers(redis):
    pause("low")
    resume("low")

    assert redis.keys("punctual:signal:*")


def test_the_command_pauses_lists_and_resumes():
    assert "is paused" in lane("pause", "low", "--reason", "nightly import", "--by", "ana")
    assert "low       weight  2  paused" in lane("list")
    assert "by ana: nightly import" in lane("list")

    assert "is open again" in lane("resume", "low")
    assert "paused" not in lane("list")


def test_the_command_works_for_a_user_that_has_no_name(monkeypatch):
    """In a container, say."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)

    lane("pause", "low", "--reason", "nightly import")

    assert LanePause.objects.get().paused_by == f"uid {os.getuid()}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pause", "lwo", "--reason", "x"], "lane 'lwo' doesn't exist. Did you mean 'low'?"),
        (["pause", "low", "--reason", ""], "reason is empty"),
        (["pause", "low", "--reason", "a\0b"], "contains a NUL character"),
        (["pause", "low", "--reason", "x" * 10_000], "at most 1,000 are allowed"),
        (["resume", "low"], "is not paused"),
        (["resume", "<script>"], "doesn't exist"),
    ],
)
def test_bad_words_are_refused_and_change_nothing(words, said):
    with pytest.raises(CommandError, match=said.replace("?", r"\?")):
        lane(*words)

    assert not LanePause.objects.exists()


def test_pausing_what_is_paused_is_an_error_of_the_command():
    pause("low")

    with pytest.raises(CommandError, match="is already paused"):
        lane("pause", "low", "--reason", "again")


def test_a_reason_may_have_any_text():
    lanes.pause("low", reason="<script>alert(1)</script> 🛑", by="ana")

    assert "🛑" in lane("list")


def test_an_unknown_lane_is_refused():
    with pytest.raises(InvalidTask, match="doesn't exist"):
        lanes.pause("urgent", reason="x", by="y")


def test_a_task_of_a_paused_lane_can_still_be_moved():
    from django_punctual import reschedule

    schedule("T_QUIET", "a", lane="low")
    pause("low")

    assert reschedule("T_QUIET", "a", delay=60).outcome == "UPDATED"
