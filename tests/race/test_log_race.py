"""Two threads of a worker write about one try: the one with the lease, and the one that has just settled it."""

import pytest

from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.progress import Told, forget_progress, tell_progress
from tasks_app.models import TaskLog, TaskProgress
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


@pytest.mark.parametrize("commit", [True, False])
def test_they_lock_in_the_same_order(commit):
    batch = started("a", "b", "c")
    told = [Told(task.id, 0.5, "") for task in batch.tasks]
    tell_progress(batch.batch_no, told)
    backwards = [task.id for task in reversed(batch.tasks)]

    overlap(lambda: tell_progress(batch.batch_no, told[::-1]), lambda: forget_progress(backwards), commit=commit)
    overlap(lambda: forget_progress(backwards), lambda: tell_progress(batch.batch_no, told), commit=commit)

    assert TaskProgress.objects.count() in (0, 3)
