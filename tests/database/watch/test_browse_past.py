"""Searching what is over beside what is live: every task once, and each unit by its last. What it costs:
test_cost_of_browsing.py."""

from datetime import timedelta

import pytest

from django_punctual import schedule
from tasks_app.engine.watch.browse import Filter, browse
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.past import fill_past, noon

pytestmark = [commits, pytest.mark.usefixtures("no_past_left")]


def ids(**wanted) -> list[int]:
    return [task.id for task in browse(Filter(**wanted), size=50, seconds=60).tasks]


def test_a_key_is_stood_for_by_the_last_task_of_each_unit():
    fill_past(1_000, 2)
    live = schedule("T_QUIET", "often", tenant="t0").task_id

    assert ids(key="often", task_type="T_QUIET", tenant="t0") == [live]
    found = ids(key="often")
    assert found[0] == live
    assert len(found) == 6  # N mod 10 is 0, 1 or 2, so N mod 20 is one of six
    assert found[1:] == sorted(found[1:], reverse=True)
    assert min(found) > 970


def test_pages_of_a_prefix_show_every_task_once_even_of_a_unit_with_many():
    fill_past(1_000, 2)
    live = schedule("T_QUIET", "often", tenant="t0").task_id

    seen, after = [], None
    while True:
        page = browse(Filter(key_prefix="of"), after, size=7)
        seen += [task.id for task in page.tasks]
        after = page.next
        if after is None:
            break

    assert sorted(seen) == sorted([*(n for n in range(1, 1_001) if n % 10 < 3), live])


def test_a_task_that_ran_twice_is_listed_once():
    schedule("T_QUIET", "twice", payload={"do": "retry", "after": 0})
    run_due()
    run_due()
    since = noon(0) - timedelta(days=1)

    assert len(ids(ran_from=since)) == 1
