"""The figures of hours: they agree with the tasks, whoever sums them up, when, how often, and whatever comes late."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from django_punctual import schedule_many
from tasks_app.core.lateness import BUCKETS, upper_bound_ms
from tasks_app.engine.beat.hours import keep_hours, mend_minutes
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.beat.roll_up import roll_up
from tasks_app.engine.canary import CANARY
from tasks_app.engine.watch.figures import last_hour, last_hours
from tasks_app.models import AnyTask, HourFigures, MinuteFigures, TaskAttempt, TaskBatch
from tasks_app.sql import run
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.overlap import overlap

pytestmark = commits

HOUR = timedelta(hours=1)


def this_hour() -> datetime:
    ((now,),) = run("clock", {})
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def last_whole() -> datetime:
    """The last hour that is summed up: it ended ten minutes ago or more."""
    ((now,),) = run("clock", {})
    return (now.astimezone(UTC) - timedelta(minutes=10)).replace(minute=0, second=0, microsecond=0) - HOUR


def ran(at: datetime, ok: int = 0, failed: int = 0, bucket: int = 8) -> None:
    """Tasks that ran then, all of them as late as the bucket says; their keys begin with the hour."""
    before = set(TaskBatch.objects.values_list("batch_no", flat=True))
    keys = [{"key": f"{at:%d-%H} {len(before)} {n}"} for n in range(ok + failed)]
    schedule_many("T_QUIET", keys[:ok])
    schedule_many("T_PLAIN", keys[ok:], payload={"do": "retry", "after": 86_400})
    run_due()
    for batch in TaskBatch.objects.exclude(batch_no__in=before):
        batch.lateness = [0] * bucket + [batch.ok + batch.failed] + [0] * (BUCKETS - bucket - 1)
        batch.finished_at = at
        batch.save()


def by_the_tasks(hour: datetime) -> tuple[int, int]:
    """How many succeeded and failed, as the rows of tasks and tries say."""
    ids = AnyTask.objects.filter(biz_key__startswith=f"{hour:%d-%H} ")
    failed = TaskAttempt.objects.filter(task_id__in=list(ids.values_list("id", flat=True))).count()
    return ids.filter(status="SUCCESS").count(), failed


def rows(until: datetime):
    """Those up to here: while a test runs, the next hour may get its turn."""
    return HourFigures.objects.filter(hour__lte=until)


def summed(hour: datetime) -> tuple[int, int]:
    return HourFigures.objects.values_list("ok", "failed").get(hour=hour)


def test_hours_agree_with_the_tasks_and_with_their_minutes():
    now, newest = this_hour(), last_whole()
    for ago, ok, failed in ((4, 7, 2), (2, 3, 0), (1, 5, 1)):
        ran(newest + HOUR - ago * HOUR + timedelta(minutes=3), ok, failed)
        ran(newest + HOUR - ago * HOUR + timedelta(minutes=58), ok)
    keep_hours()
    keep_hours()

    hours = [newest - n * HOUR for n in (3, 2, 1, 0)]
    assert list(rows(until=newest).order_by("hour").values_list("hour", flat=True)) == hours
    assert (
        [summed(hour) for hour in hours] == [by_the_tasks(hour) for hour in hours] == [(14, 2), (0, 0), (6, 0), (10, 1)]
    )

    ran(now, ok=4)  # in the hour that still runs
    shown = last_hours(24, 1, last_hour())

    assert len(shown.steps) == 24
    assert {hour: (one.ok, one.failed) for hour, one in shown.steps.items() if one.ok} == {
        hour: by_the_tasks(hour) for hour in [*hours, now] if by_the_tasks(hour)[0]
    }
    assert shown.since == hours[0]
    weeks = last_hours(30 * 24, 6, last_hour())
    assert len(weeks.steps) in (120, 121) and {hour.hour % 6 for hour in weeks.steps} == {0}
    assert (weeks.total().ok, weeks.total().failed) == (shown.total().ok, shown.total().failed) == (34, 3)


def test_what_is_not_summed_up_yet_is_read_from_its_minutes():
    hours = [this_hour() - n * HOUR for n in (3, 2, 1)]
    for ok, hour in enumerate(hours, 1):
        ran(hour + timedelta(minutes=1), ok)
    roll_up()
    before = last_hours(24, 1, last_hour()).steps
    keep_hours()

    assert HourFigures.objects.count() in (2, 3)
    assert [before[hour].ok for hour in hours] == [1, 2, 3]
    assert last_hours(24, 1, last_hour()).steps == before


def test_the_percentiles_of_an_hour_are_those_of_all_its_tasks():
    """Ninety tasks of one minute were quick and ten of another late; no mean of the minutes' percentiles says that."""
    newest = last_whole()
    ran(newest + timedelta(minutes=1), ok=90, bucket=8)
    ran(newest + timedelta(minutes=50), ok=10, bucket=60)
    MinuteFigures.objects.create(
        minute=newest, task_type=CANARY, batches=1, ok=500, failed=0, run_us=1, lateness=[0] * 90 + [500]
    )
    keep_hours()

    found = last_hours(24, 1, last_hour()).steps[newest]

    latenesses = sorted([upper_bound_ms(8)] * 90 + [upper_bound_ms(60)] * 10)
    assert (found.ok, found.failed) == (100, 0)  # no canaries
    assert [found.percentile_ms(share) for share in (0.5, 0.9, 0.95)] == [
        latenesses[49],
        latenesses[89],
        latenesses[94],
    ]


@pytest.mark.parametrize("died_after", ["nothing", "minutes", "mending"])
def test_what_is_committed_late_is_counted_though_a_beat_died_on_the_way(died_after):
    newest = last_whole()
    ran(newest - HOUR + timedelta(minutes=30), ok=3)
    ran(newest + timedelta(minutes=30), ok=3)
    keep_hours()
    HourFigures.objects.filter(hour=newest).delete()  # its turn comes now
    late = newest - HOUR + timedelta(minutes=31)
    ran(late, ok=2)
    ran(late - timedelta(minutes=1), failed=1)
    roll_up()
    assert not MinuteFigures.objects.filter(minute=late).exists()
    if died_after == "minutes":
        run("late_minutes", {"since": newest - HOUR, "until": newest + HOUR})
    elif died_after == "mending":
        assert mend_minutes(newest - HOUR, newest + HOUR) == 2

    assert keep_hours().endswith("0 minutes mended" if died_after == "mending" else "2 minutes mended")

    assert MinuteFigures.objects.get(minute=late).ok == 2
    assert summed(newest - HOUR) == by_the_tasks(newest - HOUR) == (5, 1)
    assert summed(newest) == by_the_tasks(newest) == (3, 0)
    assert mend_minutes(newest - HOUR, newest + HOUR) == 0


def one_more(minute: datetime) -> None:
    MinuteFigures.objects.create(minute=minute, task_type="T", batches=1, ok=5, failed=0, run_us=1, lateness=[5])


def test_a_beat_that_has_seen_less_changes_nothing():
    hour = last_whole()
    one_more(hour)
    span = {"back": hour, "since": hour, "until": hour + HOUR, "type": CANARY}

    def sees_more() -> None:
        one_more(hour + timedelta(minutes=1))
        run("roll_up_hours", span)

    overlap(sees_more, lambda: run("roll_up_hours", span))
    assert summed(hour) == (10, 0)

    MinuteFigures.objects.filter(minute=hour).delete()  # they are kept for a week, hours for a month
    run("roll_up_hours", span)
    assert summed(hour) == (10, 0)


def test_two_beats_that_mend_a_minute_count_it_once_and_the_one_that_has_seen_less_changes_nothing():
    hour = last_whole()
    ran(hour, ok=1)
    keep_hours()

    def sees_more() -> None:
        batch = TaskBatch.objects.get()
        batch.batch_no = uuid4()
        batch.save(force_insert=True)
        assert mend_minutes(hour, hour + HOUR) == 1

    overlap(sees_more, lambda: run("mend_minute", {"minute": hour}))

    assert MinuteFigures.objects.get().ok == 2
    ran(hour, ok=3)
    overlap(lambda: mend_minutes(hour, hour + HOUR), lambda: mend_minutes(hour, hour + HOUR))
    assert MinuteFigures.objects.get().ok == 5


def test_the_minutes_of_an_installation_that_had_no_hours_are_summed_up_by_utc_and_old_hours_go():
    newest = last_whole()
    days = [newest - timedelta(days=n) for n in (6, 3, 0)]
    for hour in days:
        one_more(hour + timedelta(minutes=59))
    with connection.cursor() as cursor:
        cursor.execute("SET TIME ZONE 'Asia/Kolkata'")  # its hours begin at half past
    try:
        keep_hours()
    finally:
        connection.close()

    assert rows(until=newest).count() == 6 * 24 + 1
    assert list(HourFigures.objects.filter(ok=5).order_by("hour").values_list("hour", flat=True)) == days
    HourFigures.objects.filter(hour=days[0]).update(hour=timezone.now() - timedelta(days=32))
    assert (prune().hours, rows(until=newest).count()) == (1, 6 * 24)
