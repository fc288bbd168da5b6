"""CELERY_TASK: a Celery task run by us; and django-celery-beat's tables as jobs."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from celery import shared_task
from celery.exceptions import Ignore, Reject
from django.core.management import CommandError, call_command
from django.db import connection

from tasks_app.client import schedule
from tasks_app.core.errors import InvalidTask
from tasks_app.lifecycle import jobs
from tasks_app.models import JobDefinition, ScheduleTask
from tests.support.engine import row, run_due
from tests.support.jobs import by, make

pytestmark = pytest.mark.django_db(transaction=True)

CALLS: list = []


@shared_task(name="testapp.note", bind=True)
def note(self, *args, **kwargs):
    CALLS.append((args, kwargs, self.request.retries, self.request.id))


@shared_task(name="testapp.fail", bind=True, autoretry_for=(KeyError,), max_retries=99)
def fail(self, how):
    match how:
        case "retry":
            raise self.retry(countdown=1)
        case "ignore":
            raise Ignore("not today")
        case "reject":
            raise Reject("never")
        case "autoretry":
            raise KeyError("lost")
    raise ValueError(how)


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def ran(payload: object) -> ScheduleTask:
    task = schedule("CELERY_TASK", "call", payload=payload).task_id
    run_due()
    return row(task)


def test_a_celery_task_runs_with_its_arguments_and_our_token():
    task = ran({"task": "testapp.note", "args": [1, "two"], "kwargs": {"three": 3}})

    assert task.status == "SUCCESS"
    assert [((1, "two"), {"three": 3}, 0, str(task.token))] == CALLS


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ("retry", "FAIL", "RETRY"),
        ("autoretry", "FAIL", "KeyError"),
        ("ignore", "CANCELLED", "IGNORED"),
        ("reject", "DEAD", "REJECTED"),
        ("crash", "FAIL", "ValueError"),
    ],
)
def test_what_a_celery_task_raises_is_settled_by_our_rules(how, status, code):
    task = ran({"task": "testapp.fail", "args": [how]})

    assert (task.status, task.error_code) == (status, code)


def test_an_unknown_celery_task_is_tried_again_and_seen():
    task = ran({"task": "testapp.nope"})

    assert (task.status, task.error_code) == ("FAIL", "UNKNOWN_CELERY_TASK")


BAD = [
    {},
    {"args": []},
    {"task": ""},
    {"task": 5},
    {"task": "x" * 10_000},
    {"task": "celery.backend_cleanup"},
    {"task": "punctual.run_batch"},
    {"task": "testapp.note", "args": {}},
    {"task": "testapp.note", "kwargs": []},
    {"task": "testapp.note", "arg": []},
    ["testapp.note"],
    None,
]


@pytest.mark.parametrize("payload", BAD)
def test_a_job_with_a_payload_that_names_no_task_is_refused(payload):
    with pytest.raises(InvalidTask):
        make(task_type="CELERY_TASK", payload=payload)


def test_a_trigger_with_a_payload_that_names_no_task_is_refused():
    job = make(task_type="CELERY_TASK", payload={"task": "testapp.note"})

    with pytest.raises(InvalidTask):
        jobs.trigger(job.id, "k", by(), payload={"args": []})


def test_a_task_with_such_a_payload_dies_at_once():
    assert (ran({"args": []}).status, ran({"args": []}).error_code) == ("DEAD", "BAD_PAYLOAD")


@pytest.fixture
def celery_beat():
    """django-celery-beat's tables, as its migrations make them."""
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE TABLE django_celery_beat_crontabschedule (id serial PRIMARY KEY, minute varchar(240),
                hour varchar(96), day_of_month varchar(124), month_of_year varchar(64), day_of_week varchar(64),
                timezone varchar(63));
            CREATE TABLE django_celery_beat_intervalschedule (id serial PRIMARY KEY, every int, period varchar(24));
            CREATE TABLE django_celery_beat_clockedschedule (id serial PRIMARY KEY, clocked_time timestamptz);
            CREATE TABLE django_celery_beat_periodictask (id serial PRIMARY KEY, name varchar(200), task varchar(200),
                args text DEFAULT '[]', kwargs text DEFAULT '{}', queue varchar(200), exchange varchar(200),
                routing_key varchar(200), headers text DEFAULT '{}', priority int, expires timestamptz,
                expire_seconds int, one_off bool DEFAULT false, start_time timestamptz, enabled bool DEFAULT true,
                last_run_at timestamptz, crontab_id int, interval_id int, clocked_id int, solar_id int);
            INSERT INTO django_celery_beat_crontabschedule (minute, hour, day_of_month, month_of_year, day_of_week,
                timezone)
                VALUES ('30', '7', '*', '*', 'monday,fri', 'Europe/Berlin'), ('0', '0', '13', '*', '5', 'UTC'),
                       ('bad', '*', '*', '*', '*', 'UTC');
            INSERT INTO django_celery_beat_intervalschedule (every, period) VALUES (10, 'minutes'), (5, 'microseconds'),
                (7, 'days'), (2000000, 'microseconds');
            INSERT INTO django_celery_beat_clockedschedule (clocked_time)
                VALUES ('2090-01-02T09:00:00Z'), ('2026-01-02T09:00:00Z');
        """)
        cursor.execute("""
            INSERT INTO django_celery_beat_periodictask (name, task, crontab_id, interval_id, clocked_id, solar_id,
                args, kwargs, queue, enabled, one_off, expire_seconds, priority)
            VALUES ('mail', 'testapp.note', 1, NULL, NULL, NULL, '[1]', '{"a": 2}', 'low', true, false, 600, NULL),
                   ('unlucky', 'testapp.note', 2, NULL, NULL, NULL, '[]', '{}', 'fast', true, false, NULL, 3),
                   ('sync', 'testapp.note', NULL, 1, NULL, NULL, '[]', '{}', NULL, false, false, NULL, NULL),
                   ('once', 'testapp.note', NULL, NULL, 1, NULL, '[]', '{}', NULL, true, true, NULL, NULL),
                   ('first', 'testapp.note', NULL, 1, NULL, NULL, '[]', '{}', NULL, true, true, NULL, NULL),
                   ('sunrise', 'testapp.note', NULL, NULL, NULL, 7, '[]', '{}', NULL, true, false, NULL, NULL),
                   ('quick', 'testapp.note', NULL, 2, NULL, NULL, '[]', '{}', NULL, true, false, NULL, NULL),
                   ('broken', 'testapp.note', 3, NULL, NULL, NULL, '[]', '{}', NULL, true, false, NULL, NULL),
                   ('own', 'celery.backend_cleanup', NULL, 1, NULL, NULL, '[]', '{}', NULL, true, false, NULL, NULL),
                   ('no json', 'testapp.note', NULL, 1, NULL, NULL, '[', '{}', NULL, true, false, NULL, NULL)
        """)
    yield
    with connection.cursor() as cursor:
        for name in ("periodictask", "crontabschedule", "intervalschedule", "clockedschedule"):
            cursor.execute(f"DROP TABLE django_celery_beat_{name}")


def imported(*options: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("import_celery_beat", *options, stdout=out)
    except SystemExit as ended:
        return ended.code, out.getvalue()
    return 0, out.getvalue()


def test_periodic_tasks_become_jobs_and_what_is_lost_is_told(celery_beat):
    code, told = imported()

    made = {job.name: job for job in JobDefinition.objects.all()}
    assert (code, set(made)) == (1, {"mail", "unlucky", "sync", "once", "first"})
    mail = made["mail"]
    assert (mail.cron, mail.timezone, mail.lane) == ("0 30 7 * * mon,fri", "Europe/Berlin", "low")
    assert mail.payload == {"task": "testapp.note", "args": [1], "kwargs": {"a": 2}}
    assert mail.expires_after.total_seconds() == 600
    friday = made["unlucky"].schedule.next(datetime(2026, 11, 2, tzinfo=UTC), 1)[0]
    assert (friday.day, friday.weekday()) == (13, 4)  # Celery wants both days to match
    assert (made["sync"].every, made["sync"].status) == (600, "PAUSED")
    assert made["once"].run_at == datetime(2090, 1, 2, 9, tzinfo=UTC)
    assert made["first"].max_runs == 1
    for words in (
        "queue 'fast' is no lane",
        "priority 3",
        "solar",
        "no whole number of seconds",
        "'BAD'",
        "own",
        "5 of 10",
    ):
        assert words in told, told


def test_a_dry_run_creates_nothing_and_a_second_run_adds_nothing(celery_beat):
    code, told = imported("--dry-run")
    assert code == 1 and "'BAD'" in told and "5 of 10 would" in told
    assert not JobDefinition.objects.exists()

    imported()
    before = list(JobDefinition.objects.values_list("id", "revision"))
    for again in (imported(), imported("--dry-run")):
        assert "there already" in again[1] and "0 of 10" in again[1]
    assert list(JobDefinition.objects.values_list("id", "revision")) == before


def add(name: str, **values: object) -> None:
    values = {"name": name, "task": "testapp.note"} | values
    names, places = ", ".join(values), ", ".join(["%s"] * len(values))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO django_celery_beat_periodictask ({names}) VALUES ({places})", list(values.values())
        )


def test_odd_periodic_tasks_are_carried_over_as_celery_runs_them(celery_beat):
    last = datetime.now(UTC) - timedelta(days=5)
    add("weekly", interval_id=3, last_run_at=last)
    add("whole", interval_id=4)
    add("done", clocked_id=2, one_off=True, enabled=False)
    add("expired", interval_id=1, expires=last)
    add("first of all", interval_id=1, priority=0)

    told = imported()[1]

    made = {job.name: job for job in JobDefinition.objects.all()}
    [following] = made["weekly"].schedule.next(datetime.now(UTC), 1)
    assert abs(following - last - timedelta(days=7)) <= timedelta(seconds=1)  # and not seven days from now
    assert made["weekly"].catch_up == "latest"  # as Celery runs what is overdue
    assert made["whole"].every == 2
    assert "done" not in made and "- done: its one time has passed" in told  # a table is full of such
    assert "expired" not in made and "- expired: the job would never fire" in told
    assert "first of all: testapp.note, every 600 s UTC (not carried over: priority 0)" in told


def test_a_disabled_task_is_paused_in_the_transaction_that_creates_its_job(celery_beat):
    class Fault(Exception):
        pass

    def fail_to_pause(execute, sql, params, many, context):
        if "take_back" in sql:
            raise Fault
        return execute(sql, params, many, context)

    with pytest.raises(Fault), connection.execute_wrapper(fail_to_pause):
        imported()

    assert not JobDefinition.objects.filter(name="sync").exists()


def test_without_the_tables_there_is_nothing_to_import():
    with pytest.raises(CommandError, match="nothing to import"):
        call_command("import_celery_beat")
