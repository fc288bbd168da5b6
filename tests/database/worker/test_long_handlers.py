"""Long handlers: what they tell of themselves is seen while they run, and they learn that they are no longer wanted."""

import threading
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from django_punctual import TaskCancelled, cancel, find, handler, reschedule, schedule
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.watch.unit_story import story
from tasks_app.engine.watch.why import why_task
from tasks_app.engine.worker.batch_run import BatchRun
from tasks_app.engine.worker.heartbeat import Pulse
from tasks_app.engine.worker.telling import tell
from tasks_app.lifecycle.progress import Told, progress_of, tell_progress
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import StartedBatch
from tasks_app.lifecycle.tries import with_tries
from tasks_app.models import AnyTask, TaskAttempt, TaskLog, TaskProgress
from tests.support.engine import claim_due, expire_lease, make_due, row, run_due
from tests.support.marks import commits
from tests.support.moves import AWAY, OK, TYPE, every_outcome, ids_of, started

pytestmark = commits

TWO_PHASES = ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
PER_TASK = ["T_PLAIN", "T_LOGS", "T_THREADS", "T_ASYNC", "T_EFFECT", "T_WRITE", *TWO_PHASES]
EVERY_MODE = [*PER_TASK, "T_BATCH", "T_ASYNC_BATCH", "T_EFFECT_BATCH"]


class Heart:
    """The thread that keeps the lease of a batch, one step at a time, with its clock in the test's hands."""

    def __init__(self, batch: StartedBatch) -> None:
        self.run = BatchRun(batch, REGISTRY.require(batch.task_type))
        for task in batch.tasks:
            self.run.begin(task)
        self._pulse = Pulse(self.run)

    def tick(self) -> None:
        """A moment later: nothing is due but what is not to wait."""
        self._pulse._told_at = self._pulse._looked_at = float("-inf")
        self._pulse.tick()

    def beat(self) -> None:
        """The next heartbeat is due."""
        self._pulse._beaten_at = float("-inf")
        self._pulse.tick()


def progress(task_id: int) -> tuple[float | None, str] | None:
    told = progress_of([task_id]).get(task_id)
    return None if told is None else (told.fraction, told.note)


def logged(task_id: int) -> list[list[str]]:
    """The lines of each try, the oldest first."""
    rows = TaskLog.objects.filter(task_id=task_id).order_by("id")
    return [[text for _, _, text in one.lines] for one in rows]


# Progress.


def test_the_first_progress_is_told_at_once_and_the_next_with_the_heartbeat():
    batch = started("a")
    [task], heart = batch.tasks, Heart(batch)
    assert progress(task.id) is None

    task.progress(0.1, "page 1")
    heart.tick()
    assert progress(task.id) == (0.1, "page 1")

    for page in range(2, 9):
        task.progress(page / 10, f"page {page}")
    heart.tick()
    assert progress(task.id) == (0.1, "page 1")
    heart.beat()
    assert progress(task.id) == (0.8, "page 8")


def test_it_costs_no_statement_until_then_and_none_if_there_is_nothing_new(django_assert_num_queries):
    batch = started("a", "b")
    heart = Heart(batch)

    with django_assert_num_queries(0):
        for task in batch.tasks:
            for n in range(100):
                task.progress(n / 100)
                task.log(n)
    heart.beat()
    with django_assert_num_queries(0):
        heart.tick()


def test_it_is_seen_where_a_task_is_looked_at_while_it_runs():
    batch = started("a")
    [task], heart = batch.tasks, Heart(batch)
    task.progress(0.4, "page 40 of 100")
    heart.tick()

    found = find(TYPE, "a")
    assert (found.progress.fraction, found.progress.note) == (0.4, "page 40 of 100")
    assert "ago how far it is: 40 %, page 40 of 100." in why_task(AnyTask.objects.get(id=task.id)).words


def test_what_a_run_before_has_left_behind_is_not_shown():
    batch = started("a")
    [task_id] = ids_of(batch)
    TaskProgress.objects.create(task=task_id, fraction=0.9, note="old", at=timezone.now() - timedelta(hours=1))

    assert find(TYPE, "a").progress is None
    assert "how far" not in why_task(AnyTask.objects.get(id=task_id)).words


def test_a_worker_that_lost_its_batch_can_not_tell_of_the_run_after_it():
    lost = started("a")
    [task] = lost.tasks
    expire_lease(str(lost.batch_no))
    reap()
    make_due(task.id)
    [claimed] = claim_due()

    assert tell_progress(lost.batch_no, [Told(task.id, 0.9, "from the grave")]) == set()
    assert tell_progress(UUID(claimed.batch_no), [Told(task.id, 0.1, "")]) == {task.id}
    assert progress(task.id) == (0.1, "")


@every_outcome
def test_it_is_gone_when_the_run_is_over_and_a_line_unless_that_succeeded(outcome):
    batch = started("a")
    [task], heart = batch.tasks, Heart(batch)
    task.progress(0.4, "page 4")
    heart.tick()
    task.progress(0.5, "page 5")

    heart.run.end(task, outcome)
    heart.run.flush(finish=True)

    assert TaskProgress.objects.exists() is (outcome is AWAY)  # that goes on elsewhere
    assert logged(task.id) == ([] if outcome in (OK, AWAY) else [["It had got to: 50 %, page 5"]])


def test_what_dead_workers_left_behind_is_pruned_but_not_that_of_what_runs():
    [running] = ids_of(started("a"))
    for task in (running, 10**12):
        TaskProgress.objects.create(task=task, at=timezone.now() - timedelta(hours=2))
    TaskProgress.objects.create(task=10**12 + 1)

    assert prune().progress == 1
    assert set(TaskProgress.objects.values_list("task", flat=True)) == {running, 10**12 + 1}


# Lines.


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_every_try_keeps_its_lines_whatever_became_of_it(task_type):
    outcomes = {"ok": "SUCCESS", "retry": "FAIL", "die": "DEAD", "skip": "CANCELLED"}
    ids = [schedule(task_type, do, payload={"do": do, "log": [f"{do} 1", f"{do} 2"]}).task_id for do in outcomes]
    silent = schedule(task_type, "silent").task_id

    run_due()

    assert [row(one).status for one in ids] == list(outcomes.values())
    for one, do in zip(ids, outcomes, strict=True):
        [lines] = logged(one)
        assert [line for line in lines if line.startswith(do)][-2:] == [f"{do} 1", f"{do} 2"]
    assert logged(silent) == ([["shop.mail: sending to silent"]] if task_type == "T_LOGS" else [])


def test_tasks_that_tell_nothing_write_nothing():
    schedule(TYPE, "a")

    run_due()

    assert (TaskLog.objects.count(), TaskProgress.objects.count()) == (0, 0)


def test_each_try_has_lines_of_its_own_and_the_story_of_the_unit_has_them():
    task_id = schedule(TYPE, "a", payload={"do": "retry_until", "attempt": 2, "log": ["here"]}).task_id
    run_due()
    make_due(task_id)
    run_due()

    rows = TaskLog.objects.filter(task_id=task_id).order_by("id")
    assert [(one.attempt, one.dropped, one.lines[0][2]) for one in rows] == [(1, 0, "here"), (2, 0, "here")]
    assert [one.batch_no for one in rows] == [TaskAttempt.objects.get().batch_no, row(task_id).ran_in]
    told = story(with_tries([AnyTask.objects.get(id=task_id)]))
    assert [one.words for one in told if one.what == "log"] == ["here", "here"]


def test_lines_are_there_while_it_runs_and_after_its_worker_was_killed():
    batch = started("a")
    [task], heart = batch.tasks, Heart(batch)
    for number in range(250):
        task.log(f"line {number}")
    heart.tick()
    task.log("one more")
    heart.beat()

    expire_lease(str(batch.batch_no))
    reap()

    [kept] = TaskLog.objects.filter(task_id=task.id)
    assert (kept.dropped, len(kept.lines), kept.lines[-1][2], kept.worker) == (51, 200, "one more", "worker")


def test_a_table_that_is_locked_costs_a_line_and_not_the_task(caplog, monkeypatch):
    monkeypatch.setattr("tasks_app.engine.worker.telling.LOCK_MS", "1")
    task_id = schedule(TYPE, "a", payload={"log": ["lost"], "progress": [0.5]}).task_id
    locked, done = threading.Event(), threading.Event()

    def lock() -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute("BEGIN; LOCK TABLE punctual_log IN ACCESS EXCLUSIVE MODE")
            locked.set()
            done.wait(60)
            cursor.execute("ROLLBACK")
        connections.close_all()

    other = threading.Thread(target=lock)
    other.start()
    assert locked.wait(30)
    try:
        run_due()
    finally:
        done.set()
        other.join()

    assert (row(task_id).status, logged(task_id)) == ("SUCCESS", [])
    assert "run.untold" in caplog.text


def test_what_could_not_be_told_is_told_with_the_next_heartbeat(monkeypatch):
    batch = started("a")
    [task], heart = batch.tasks, Heart(batch)
    task.log("first")
    with monkeypatch.context() as broken:
        broken.setitem(connections["default"].settings_dict, "NAME", "nowhere")
        connections["default"].close()
        tell(batch.batch_no, list(batch.contact.reports.values()))
    heart.beat()

    assert logged(task.id) == [["first"]]


# Cancelling.


def test_a_handler_that_asks_learns_of_a_cancel_before_the_next_heartbeat():
    batch = started("a", "b")
    a, b = sorted(batch.tasks, key=lambda task: task.key)
    heart = Heart(batch)
    assert not a.cancelled and not b.cancelled

    cancel(TYPE, "a", reason="not wanted")
    assert not a.cancelled
    heart.tick()

    assert (a.cancelled, b.cancelled) == (True, False)


def test_one_that_does_not_ask_costs_no_look(django_assert_num_queries):
    heart = Heart(started("a"))
    with django_assert_num_queries(0):
        heart.tick()


def test_a_new_time_is_the_end_of_the_run_under_way_too():
    batch = started("a")
    [task], heart = batch.tasks, Heart(batch)
    assert not task.cancelled

    assert reschedule(TYPE, "a", delay=60).outcome == "REPLACED"
    heart.tick()

    assert task.cancelled


def test_so_is_the_loss_of_the_batch():
    batch = started("a")
    [task], heart = batch.tasks, Heart(batch)
    expire_lease(str(batch.batch_no))
    reap()

    heart.beat()

    assert task.cancelled
    with pytest.raises(TaskCancelled):
        task.check_cancelled()


@pytest.fixture
def declare():
    declared = []

    def declare(call, **options) -> str:
        declared.append(f"T_STOPS_{len(declared)}")
        handler(declared[-1], timeout=20, backoff=[60], **options)(call)
        return declared[-1]

    yield declare
    for name in declared:
        REGISTRY.discard(name)


def cancelled_meanwhile(tasks) -> None:
    """As somebody else would, and the heartbeat that learns of it."""
    for task in tasks:
        cancelling = threading.Thread(target=lambda task=task: (cancel(task.type, task.key), connections.close_all()))
        cancelling.start()
        cancelling.join()
        task._contact.gone.add(task.id)


MODES = [{}, {"concurrency": 2}, {"transactional": True}]


@pytest.mark.parametrize("options", MODES, ids=lambda options: next(iter(options), "one by one"))
def test_the_end_of_a_cancelled_run_is_no_failure_and_its_lines_are_kept(declare, options):
    def run(task):
        if task.key == "a":
            cancelled_meanwhile([task])
        task.log("asking")
        task.check_cancelled()

    task_type = declare(run, **options)
    a, b = (schedule(task_type, key).task_id for key in "ab")

    run_due()

    assert [row(one).status for one in (a, b)] == ["CANCELLED", "SUCCESS"]
    assert (TaskAttempt.objects.count(), logged(a)[0][0]) == (0, "asking")


def test_an_async_handler_asks_in_the_same_way(declare):
    async def run(task):
        task._contact.gone.add(task.id)
        task.check_cancelled()

    task_type = declare(run)
    task_id = schedule(task_type, "a").task_id

    run_due()

    assert (row(task_id).status, TaskAttempt.objects.count()) == ("INIT", 0)  # nobody has really cancelled it


def test_one_call_for_many_that_ends_so_gives_the_others_back_without_using_a_retry(declare):
    def run(tasks):
        cancelled_meanwhile(tasks[:1])
        for task in tasks:
            task.check_cancelled()

    task_type = declare(run, batch=True)
    ids = [schedule(task_type, key).task_id for key in "abc"]

    run_due()

    assert sorted(row(one).status for one in ids) == ["CANCELLED", "INIT", "INIT"]
    assert {(row(one).retry_count, row(one).solo) for one in ids} == {(0, False)}
