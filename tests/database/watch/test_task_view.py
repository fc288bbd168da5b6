"""Tasks as other apps read them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from django_punctual import dead_keys, find_many, history, reschedule, who_is_missing
from tasks_app.models import Node
from tests.support.moves import RETRY, TUESDAY, TYPE, claimed, dead, rows_of, scheduled, settled, started

pytestmark = pytest.mark.django_db


def test_many_units_are_found_in_a_statement_and_another_for_those_that_are_not_live(django_assert_num_queries):
    scheduled("a", "b")
    scheduled("a", task_type="T_PLAIN")
    with django_assert_num_queries(1):
        assert len(find_many([TYPE], ["a", "b"])) == 2
    with django_assert_num_queries(2):
        found = find_many([TYPE, "T_PLAIN", "T_LONG"], ["a", "b", "c"])
    assert set(found) == {(TYPE, "a"), (TYPE, "b"), ("T_PLAIN", "a")}
    assert found[TYPE, "a"].status == "INIT"


def test_a_history_has_every_row_of_the_unit_with_its_failed_tries_the_latest_first():
    settled(started("a"), RETRY)
    reschedule(TYPE, "a", delay=0)
    claimed("b")
    reschedule(TYPE, "a", at=TUESDAY)

    tasks, attempts = history(TYPE, "a")

    assert [task.id for task in tasks] == [row.id for row in reversed(rows_of("a"))]
    assert [task.status for task in tasks] == ["INIT", "CANCELLED"]
    assert [(attempt.task_id, attempt.attempt, attempt.error_code) for attempt in attempts] == [
        (tasks[-1].id, 1, "BROKEN")
    ]
    assert history(TYPE, "never") == ([], [])


def test_a_finished_task_says_how_late_it_began():
    batch = started("a")
    settled(batch)
    [task], _ = history(TYPE, "a")
    assert task.late is not None and task.late > timedelta(0)


def test_dead_keys_are_the_units_that_wait_for_a_person():
    dead("a", "b")
    reschedule(TYPE, "b", at=TUESDAY)
    assert dead_keys([TYPE]) == ["a"]
    assert dead_keys(["T_PLAIN"]) == []


def test_who_is_missing_names_the_process_to_start():
    assert who_is_missing("default") == "no beat is running"
    beat = Node.objects.create(node_id=uuid4(), kind=Node.BEAT, name="b")
    assert who_is_missing("default") == "no worker is running"
    Node.objects.create(node_id=uuid4(), kind=Node.WORKER, name="w", lanes=["high"])
    assert who_is_missing("default") == "no worker serves the lane 'default'"
    assert who_is_missing("high") == ""
    Node.objects.filter(pk=beat.pk).update(seen_at=timezone.now() - timedelta(hours=1))
    assert who_is_missing("high") == "no beat is running"
