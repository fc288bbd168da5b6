"""Two beats that look at the same time: a chore is taken by one of them, and what either tells of it is kept."""

from collections.abc import Callable

import pytest

from tasks_app.engine import nodes
from tasks_app.models import MaintenanceEntry
from tasks_app.sql import execute, run
from tests.support.marks import commits
from tests.support.overlap import overlap_results

pytestmark = commits


@pytest.fixture(autouse=True)
def _due() -> None:
    run("declare_chores", {"names": ["count", "prune"]})
    execute("UPDATE punctual_chore SET next_at = '2020-01-01', done_at = '2020-01-01'")


def look(name: str, *names: str, done: tuple[str, ...] = ()) -> Callable[[], list[str]]:
    """A beat's look at these chores; it has just done those others."""
    beat = {"node_id": nodes.new_node_id(), "name": name, "site": "main", "dispatching": False, "figures": None}
    asked = {"names": list(names), "everys": [60.0] * len(names), "wanted": [], "keep": 600.0}
    asked |= {"done": list(done), "ago": [0.0] * len(done)}
    return lambda: sorted(name for (name,) in run("take_chores", beat | asked))


@pytest.mark.parametrize("commit", [True, False])
def test_a_chore_that_is_due_is_taken_by_one_of_two_beats(commit):
    first, second = overlap_results(look("one", "count", "prune"), look("two", "prune", "count"), commit=commit)

    assert (first.value, second.waited) == (["count", "prune"], True)
    assert second.value == ([] if commit else ["count", "prune"])
    assert {row.ran_by for row in MaintenanceEntry.objects.all()} == {"one" if commit else "two"}


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("told_first", [True, False])
def test_what_one_tells_and_another_takes_are_both_kept(told_first, commit):
    telling, taking = look("one", done=("count",)), look("two", "count")
    first, second = (telling, taking) if told_first else (taking, telling)

    _, last = overlap_results(first, second, commit=commit)

    row = MaintenanceEntry.objects.get(name="count")
    assert last.waited
    assert (row.done_at.year > 2020) is (commit or not told_first)
    assert (row.ran_by == "two") is (commit or told_first)
