"""The figures behind the charts: minutes rolled up from batches, the next hour's load, guesses for great numbers."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from django_punctual import schedule, schedule_many
from tasks_app.engine.beat.roll_up import roll_up
from tasks_app.engine.watch import figures, status
from tasks_app.engine.watch.figures import last_hour, next_hour
from tasks_app.lifecycle.away import Completed, Failed, complete, fail, lose
from tasks_app.models import AwayOutcome, AwayTask, MinuteFigures, TaskBatch
from tasks_app.sql import run
from tasks_app.storage import sample
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.moves import TYPE, away, ids_of, scheduled

pytestmark = commits


def execute(statement: str, params=None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


def ran(ok: int = 0, failed: int = 0, minutes_ago: int = 0) -> None:
    """A batch of each kind that finished so long ago."""
    before = set(TaskBatch.objects.values_list("batch_no", flat=True))
    key = TaskBatch.objects.count()
    schedule_many("T_QUIET", [{"key": f"{key}-{n}"} for n in range(ok)])
    run_due()
    if failed:
        broken = {"do": "retry", "after": 3600}
        schedule_many("T_PLAIN", [{"key": f"{key}-{n}"} for n in range(failed)], payload=broken)
        run_due()
    new = set(TaskBatch.objects.values_list("batch_no", flat=True)) - before
    execute(
        "UPDATE punctual_batch"
        " SET finished_at = date_trunc('minute', now()) - make_interval(mins => %s) + interval '1 s'"
        " WHERE batch_no = ANY(%s)",
        [minutes_ago, list(new)],
    )


def test_whole_minutes_are_rolled_up_once_and_read_instead_of_the_batches():
    ran(ok=10, failed=2, minutes_ago=3)
    roll_up()
    roll_up()
    assert MinuteFigures.objects.count() == 2  # one for each type
    TaskBatch.objects.all().delete()

    hour = last_hour()

    assert (hour.last(5).ok, hour.last(5).failed) == (10, 2)
    assert hour.types["T_PLAIN"].failed == 2
    assert sum(hour.last(5).lateness) == 12
    assert hour.last(5).percentile_ms(0.5) > 0


def test_a_minute_that_is_still_running_is_not_rolled_up_and_is_read_from_the_batches():
    ran(ok=10, minutes_ago=2)
    roll_up()
    ran(ok=5)
    roll_up()

    assert MinuteFigures.objects.count() == 1
    assert last_hour().last(60).ok == 15


def come_home(minutes_ago: int = 0) -> None:
    """Four tasks were away: two are reported done, one failed, and of one nothing is heard."""
    batch = away("a", "b", "c", "d")
    one, two, three, four = ids_of(batch)
    execute("UPDATE punctual_batch SET finished_at = now() - interval '2 hours'")
    assert len(complete(batch.batch_no, [(one, Completed()), (two, Completed())])) == 2
    assert complete(batch.batch_no, [(one, Completed())]) == []  # a second report counts for nothing
    assert len(fail(batch.batch_no, [(three, Failed("NO_FILE", "not there"))])) == 1
    AwayTask.objects.filter(task=four).update(until=timezone.now() - timedelta(seconds=1))
    assert len(lose()) == 1
    at = "date_trunc('minute', now()) - make_interval(mins => %s) + interval '1 s'"
    execute(f"UPDATE punctual_away_outcome SET at = {at}", [minutes_ago])


def test_the_outcome_of_a_task_that_was_away_counts_in_the_minute_in_which_it_is_told():
    come_home()
    hour = last_hour()

    assert (hour.last(1).ok, hour.last(1).failed, sum(hour.last(1).lateness)) == (2, 2, 0)
    assert (hour.types[TYPE].ok, hour.types[TYPE].failed) == (2, 2)


def test_outcomes_of_tasks_that_were_away_are_rolled_up_once_and_are_no_batches():
    ran(ok=5, minutes_ago=3)
    come_home(minutes_ago=3)
    TaskBatch.objects.filter(ok=5).update(finished_at=AwayOutcome.objects.first().at)
    roll_up()
    roll_up()

    minute = MinuteFigures.objects.get(ok__gt=0)  # there is another, in which they were handed over
    assert (minute.batches, minute.ok, minute.failed, minute.returned) == (1, 7, 2, 4)
    assert (last_hour().last(5).ok, last_hour().last(5).failed) == (7, 2)


def test_what_was_away_says_nothing_about_how_long_a_task_takes():
    ran(ok=5, minutes_ago=3)
    TaskBatch.objects.update(run_us=5_000)
    roll_up()
    before = run("pace_before", {}), run("day_load", {})
    MinuteFigures.objects.update(ok=105, returned=100)

    assert (run("pace_before", {}), run("day_load", {})) == before


def test_an_hour_has_every_minute_and_nothing_older():
    ran(ok=1, minutes_ago=90)
    ran(ok=3, minutes_ago=30)

    minutes = last_hour().minutes

    assert len(minutes) == 61
    assert list(minutes) == sorted(minutes)
    assert [one.ok for one in minutes.values() if one.ok] == [3]


def test_the_next_hour_is_counted_minute_by_minute():
    schedule("T_QUIET", "due already")
    scheduled("a", "b", delay=30)
    scheduled("c", delay=10 * 60 + 5)
    scheduled("tomorrow", delay=86_400)

    load = next_hour()

    assert load.exact
    assert {minute: count for minute, count in enumerate(load.minutes) if count} == {0: 2, 10: 1}


def test_the_next_hour_counts_tasks_of_a_type_with_a_limit_too():
    schedule("T_RATED", "a", delay=90)
    schedule("T_QUIET", "b", delay=90)

    assert next_hour().minutes[1] == 2


@pytest.fixture
def many(monkeypatch):
    """So many tasks that they are guessed instead of counted."""
    monkeypatch.setattr(figures, "LOAD_BOUND", 5)
    monkeypatch.setattr(status, "COUNT_BOUND", 5)
    schedule_many("T_QUIET", [{"key": f"due-{n}"} for n in range(500)])
    schedule_many("T_QUIET", [{"key": f"soon-{n}"} for n in range(500)], delay=330, lane="low")
    execute("ANALYZE punctual_task")


def test_what_is_too_much_to_count_is_guessed_and_said_to_be(many):
    load = next_hour()
    now = status.read_status()

    assert not load.exact
    assert load.minutes[5] == 500  # the sample of a small table is all of it
    assert (now.due, now.due_exact) == (500, False)


def test_a_sample_of_a_part_is_scaled_up(many, monkeypatch):
    monkeypatch.setattr(sample, "ROWS", 500)

    assert 200 < sum(next_hour().minutes) < 900


def test_dead_letters_are_counted_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(status, "DEAD_BOUND", 3)
    schedule_many("T_QUIET", [{"key": n} for n in range(10)], payload={"do": "die"})
    run_due()

    assert status.read_status().dead_letters == 4
