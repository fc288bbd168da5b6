"""Two threads of a worker write about one try: the one with the lease, and the one that has just settled it."""

import pytest

from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.progress import Told, forget_progress, tell_progress
from tasks_app.models import TaskLog, TaskProgress
from tests.support.contend import contend
from tests.support.marks import commits
from tests.support.moves import started
from tests.support.overlap import overlap

pytestmark = commits


def writing(batch, *, lines: int, dropped: int = 0):
    """As one of the two would, for every task of the batch, in whatever order."""
    kept = [(1.5, "", f"line {dropped + n}") for n in range(lines)]
    logs = [Lines(task.id, task.attempt, dropped, kept) for task in batch.tasks]
    return lambda: keep_logs(batch.batch_no, logs)


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("turned", [False, True])
def test_the_one_that_knows_of_more_lines_is_right_whoever_comes_first(turned, commit):
    batch = started("a", "b")
    early, late = writing(batch, lines=2), writing(batch, lines=2, dropped=1)

    overlap(*((late, early) if turned else (early, late)), commit=commit)

    kept = 1 if (commit or not turned) else 0
    assert set(TaskLog.objects.values_list("dropped", flat=True)) == {kept}
    assert TaskLog.objects.count() == 2


@pytest.mark.parametrize("turned", [False, True])
def test_they_lock_in_the_same_order(turned):
    """Both queue at the first row, which a third side has locked. Whoever had the last one would be in the way."""
    batch = started("a", "b", "c")
    ids = sorted(task.id for task in batch.tasks)
    told = [Told(task_id, 0.5, "") for task_id in reversed(ids)]
    tell_progress(batch.batch_no, told)
    sides = [lambda: tell_progress(batch.batch_no, told), lambda: forget_progress(ids[::-1])]

    results = contend(lambda: lock(ids[0]), *(reversed(sides) if turned else sides))

    assert [result.error for result in results] == [None, None]
    assert TaskProgress.objects.count() == (3 if turned else 0)


def lock(task_id: int) -> None:
    TaskProgress.objects.select_for_update().get(task=task_id)
