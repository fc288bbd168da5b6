"""Two beats that count at the same time count nothing twice, whichever of them ends how."""

import pytest

from tasks_app.engine.beat.counting import count
from tasks_app.models import CountPass
from tests.support.counting import begin, counted, value
from tests.support.marks import commits
from tests.support.moves import settled, started
from tests.support.overlap import overlap

pytestmark = commits


@pytest.mark.parametrize("commit", [True, False])
def test_the_second_count_leaves_it_to_the_first(commit):
    begin()
    settled(started("a", "b"))

    first, second = overlap(counted, count, commit=commit)

    assert second == "another beat counts" and first != second
    assert value("runs", "default", "T_QUIET", "ok") == (2 if commit else None)
    counted()
    assert value("runs", "default", "T_QUIET", "ok") == 2


def test_two_that_begin_at_the_same_time_make_one_mark():
    first, second = overlap(count, count)

    assert "counts" in first and "counts" in second
    assert CountPass.objects.count() == 1
