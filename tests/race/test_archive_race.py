"""A day that leaves for the archive against what comes to it: every task is found once, in the one or the other."""

import pytest

from django_punctual import cancel, schedule
from tasks_app.archive.leave import leave_all
from tasks_app.lifecycle.past import move_strays
from tasks_app.models import ScheduleTask
from tests.support.archive import SPAN, days_ago, everywhere, folder, past_day
from tests.support.marks import commits
from tests.support.moves import TYPE
from tests.support.overlap import overlap, overlap_results
from tests.support.past import drop_past

pytestmark = commits
BOTH = pytest.mark.parametrize("commit", [True, False])
IDS = range(1_000_001, 1_000_011)


@pytest.fixture
def place(tmp_path):
    """An archive; and a day that is due for it."""
    past_day(days_ago(30), IDS)
    yield folder(tmp_path)
    drop_past()


def late() -> int:
    """A task that was over on that day, and is still among what is live."""
    task_id = schedule(TYPE, "late", delay=60).task_id
    cancel(TYPE, "late")
    ScheduleTask.objects.update(updated_at=days_ago(30) + SPAN / 2)
    return task_id


@BOTH
def test_a_task_that_is_being_moved_into_a_day_keeps_it_from_leaving(place, commit):
    """The drop waits for the move, and then sees that there is more than was written."""
    task_id = late()

    moved, left = overlap_results(lambda: move_strays(0), lambda: leave_all(place, "archiver"), commit=commit)

    assert (moved.value.tasks, left.waited, len(left.value.written)) == (1, True, not commit)
    move_strays(0)  # again, if it was rolled back
    for _ in range(2):
        assert everywhere(place) == dict.fromkeys([*IDS, task_id], 1)
        leave_all(place, "archiver")


def test_a_task_that_comes_to_a_day_that_is_leaving_is_kept(place):
    task_id = late()

    left, moved = overlap_results(lambda: leave_all(place, "archiver"), lambda: move_strays(0))

    assert (len(left.value.written), moved.value.tasks, moved.waited) == (1, 1, True)
    for _ in range(2):
        assert everywhere(place) == dict.fromkeys([*IDS, task_id], 1)
        leave_all(place, "archiver")


def test_two_that_archive_the_same_day_write_it_once(place):
    one, two = overlap(lambda: leave_all(place, "one"), lambda: leave_all(place, "two"))

    assert (len(one.written), two.written) == (1, [])
    assert everywhere(place) == dict.fromkeys(IDS, 1)
