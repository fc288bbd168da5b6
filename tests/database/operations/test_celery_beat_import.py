"""django-celery-beat's tables as jobs: carried over, switched off, and taken back."""

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tasks_app.engine.operations.celery_beat_import import carry_over, take_back
from tasks_app.lifecycle.jobs import verbs
from tasks_app.models import AuditEntry, ImportedSchedule, JobDefinition
from tests.support.engine import claim_due, make_due, run_due
from tests.support.jobs import by, instances, make
from tests.support.overlap import overlap

pytestmark = pytest.mark.django_db(transaction=True)

CARRIED = {"mail", "unlucky", "sync", "once", "first"}
ON = CARRIED - {"sync"}  # the others were switched off before


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
                last_run_at timestamptz, date_changed timestamptz DEFAULT now(), crontab_id int, interval_id int,
                clocked_id int, solar_id int);
            CREATE TABLE django_celery_beat_periodictasks (ident smallint PRIMARY KEY, last_update timestamptz);
            INSERT INTO django_celery_beat_crontabschedule (minute, hour, day_of_month, month_of_year, day_of_week,
                timezone)
                VALUES ('30', '7', '*', '*', 'monday,fri', 'Europe/Berlin'), ('0', '0', '13', '*', '5', 'UTC'),
                       ('bad', '*', '*', '*', '*', 'UTC');
            INSERT INTO django_celery_beat_intervalschedule (every, period) VALUES (10, 'minutes'), (5, 'microseconds'),
                (7, 'days'), (2000000, 'microseconds'), (10, 'seconds');
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
        for name in ("periodictasks", "periodictask", "crontabschedule", "intervalschedule", "clockedschedule"):
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
        "queue 'fast' is not a lane",
        "priority 3",
        "solar",
        "not a whole number of seconds",
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
    before = list(JobDefinition.objects.order_by("id").values_list("id", "revision"))
    for again in (imported(), imported("--dry-run")):
        assert "there already" in again[1] and "0 of 10" in again[1]
    assert list(JobDefinition.objects.order_by("id").values_list("id", "revision")) == before


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
    assert "done" not in made and "= done: its one time has passed" in told  # a table is full of such
    assert "expired" not in made and "- expired: end_at=" in told
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


def query(statement: str, params: object = None) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def switched_on() -> set[str]:
    return {name for (name,) in query("SELECT name FROM django_celery_beat_periodictask WHERE enabled")}


def change(name: str, **values: object) -> None:
    """What a person does in django-celery-beat's own admin."""
    places = ", ".join(f"{column} = %s" for column in values)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE django_celery_beat_periodictask SET {places} WHERE name = %s", [*values.values(), name])


def last_run(name: str) -> datetime | None:
    return query("SELECT last_run_at FROM django_celery_beat_periodictask WHERE name = %s", [name])[0][0]


def last_update() -> datetime:
    """What a running beat looks at: it reads its table again when this is later than before."""
    return query("SELECT last_update FROM django_celery_beat_periodictasks")[0][0]


def job(name: str) -> JobDefinition:
    return JobDefinition.objects.get(name=name)


def line(told: str, name: str) -> str:
    [found] = [one for one in told.splitlines() if one[2:].startswith(f"{name}:")]
    return found


def ran(name: str) -> datetime:
    """A firing of the job has run; its time."""
    if not instances(job(name)):
        verbs.trigger(job(name).id, "now", by())
    first = instances(job(name))[0]
    make_due(first.id)
    run_due(size=1)
    return first.fire_time


def test_what_became_a_job_is_switched_off_and_what_did_not_stays_on(celery_beat):
    before = switched_on()

    code, told = imported()

    assert (code, switched_on()) == (1, before - ON)
    for name in ON:
        assert "its schedule is switched off" in line(told, name)
    assert "its schedule was off" in line(told, "sync")
    assert "its schedule stays on" in line(told, "sunrise")
    assert line(told, "own") == "= own: one of Celery's own tasks, which stays with Celery; its schedule stays on"
    assert "4 schedules switched off" in told
    assert AuditEntry.objects.filter(verb="switch_off").count() == 4


def test_a_running_beat_is_told_though_its_clock_is_ahead(celery_beat):
    ahead = datetime.now(UTC) + timedelta(hours=1)
    query("INSERT INTO django_celery_beat_periodictasks VALUES (1, %s) RETURNING 1", [ahead])

    imported()
    first = last_update()
    imported("--undo")

    assert ahead < first < last_update()


def test_jobs_are_made_and_schedules_switched_off_in_one_transaction(celery_beat):
    class Fault(Exception):
        pass

    def fail_at_the_end(execute, sql, params, many, context):
        if "periodictasks" in sql and "INSERT" in sql:
            raise Fault
        return execute(sql, params, many, context)

    before = switched_on()
    with pytest.raises(Fault), connection.execute_wrapper(fail_at_the_end):
        imported()
    assert (switched_on(), JobDefinition.objects.count()) == (before, 0)

    imported()
    after = switched_on()
    with pytest.raises(Fault), connection.execute_wrapper(fail_at_the_end):
        imported("--undo")
    assert (switched_on(), JobDefinition.objects.count()) == (after, len(CARRIED))


def test_an_undo_deletes_the_jobs_and_switches_on_exactly_what_was_switched_off(celery_beat):
    last = datetime.now(UTC) - timedelta(minutes=3)
    change("mail", last_run_at=last)
    before = switched_on()
    imported()
    assert last_run("mail") is None  # as django-celery-beat does: whoever switches it on begins anew

    code, told = imported("--undo")

    assert (code, switched_on(), JobDefinition.objects.count()) == (0, before, 0)
    assert last_run("mail") == last
    assert "switched on again" in line(told, "mail") and "deleted" in line(told, "mail")
    assert "stays off" in line(told, "sync")
    assert "5 of 5" in told


def test_a_second_undo_does_nothing_and_a_second_import_begins_anew(celery_beat):
    imported()
    imported("--undo")
    change("mail", enabled=False)
    update = last_update()

    code, told = imported("--undo")

    assert (code, "nothing to take back" in told.lower(), "mail" in switched_on()) == (0, True, False)
    assert last_update() == update
    imported()
    assert set(JobDefinition.objects.values_list("name", flat=True)) == CARRIED
    assert job("mail").status == "PAUSED"  # switched off by a person
    imported("--undo")
    assert "mail" not in switched_on()


def test_an_undo_pauses_a_job_that_has_run_or_was_changed_and_the_old_schedule_goes_on_from_there(celery_beat):
    add("often", interval_id=5)
    imported()
    ran("mail")  # because somebody triggered it
    at = ran("often")
    verbs.edit(job("unlucky").id, {"payload": {"task": "testapp.note", "args": [9]}}, by())

    code, told = imported("--undo")

    assert (code, switched_on() & ON) == (0, ON)
    left = {one.name: one.status for one in JobDefinition.objects.all()}
    assert left == dict.fromkeys(["mail", "often", "unlucky"], "PAUSED")
    assert "has run" in line(told, "mail") and "changed" in line(told, "unlucky")
    assert (last_run("mail"), last_run("often")) == (None, at)
    assert all(task.status != "INIT" for task in instances(job("often")))

    code, told = imported()
    assert code == 1 and "paused by --undo" in line(told, "mail") and "mail" in switched_on()


@pytest.mark.parametrize("name", ["once", "first"])
def test_an_undo_does_not_run_a_second_time_what_was_to_run_once(celery_beat, name):
    imported()
    ran(name)

    told = imported("--undo")[1]

    assert name not in switched_on()
    assert "has had its one run" in line(told, name)


def test_an_undo_says_what_people_changed_meanwhile_and_loses_none_of_it(celery_beat):
    imported()
    change("mail", enabled=True, last_run_at=None)
    change("unlucky", task="testapp.other")
    verbs.delete(job("first").id, by())
    query("DELETE FROM django_celery_beat_periodictask WHERE name = 'once' RETURNING 1")

    code, told = imported("--undo")

    assert code == 1  # somebody has to look at what has no schedule any more
    assert "is on already" in line(told, "mail")
    assert "unlucky" in switched_on() and "changed since" in line(told, "unlucky")
    assert "first" in switched_on() and "gone already" in line(told, "first")
    assert "its schedule is gone" in line(told, "once")
    assert {one.name: one.status for one in JobDefinition.objects.all()} == {"once": "ACTIVE"}


def test_what_is_running_when_it_is_taken_back_goes_on(celery_beat):
    imported()
    verbs.trigger(job("mail").id, "now", by())
    claim_due()

    imported("--undo")

    assert [task.status for task in instances(job("mail"))] == ["RUNNING"]


def test_a_schedule_that_is_on_again_is_switched_off_by_the_next_import(celery_beat):
    imported()
    change("mail", enabled=True)
    change("unlucky", enabled=True)
    verbs.pause(job("unlucky").id, by())
    verbs.delete(job("first").id, by())

    told = imported()[1]

    assert "mail" not in switched_on() and "on again" in line(told, "mail")
    assert "unlucky" in switched_on() and "paused" in line(told, "unlucky")  # a person went back to Celery by hand
    assert not JobDefinition.objects.filter(name="first").exists() and "deleted" in line(told, "first")


def test_a_job_that_an_older_import_made_gets_its_schedule_switched_off(celery_beat):
    """It used to leave them on: everything ran twice."""
    imported()
    ImportedSchedule.objects.all().delete()
    change("mail", enabled=True)

    told = imported()[1]

    assert "mail" not in switched_on() and "switched off" in line(told, "mail")
    imported("--undo")
    assert "mail" in switched_on() and not JobDefinition.objects.filter(name="mail").exists()


def test_a_job_of_the_same_name_that_somebody_else_made_is_told(celery_beat):
    make("mail", every=60)

    code, told = imported()

    assert code == 1 and "mail" in switched_on()
    assert "not created by this command" in line(told, "mail")


def test_a_dry_run_of_an_undo_changes_nothing(celery_beat):
    imported()
    ran("mail")
    after, count = switched_on(), JobDefinition.objects.count()

    code, told = imported("--undo", "--dry-run")

    assert (code, switched_on(), JobDefinition.objects.count()) == (0, after, count)
    assert "would be paused" in line(told, "mail") and "would be deleted" in line(told, "first")
    assert job("mail").status == "ACTIVE"
    assert "5 of 5 would be taken back" in told


def test_json_says_the_same(celery_beat):
    code, dry = imported("--json", "--dry-run")
    told = json.loads(dry)
    assert (code, told["dry_run"], told["jobs"], told["switched_off"]) == (1, True, 5, 4)

    told = json.loads(imported("--json")[1])
    one = {one["name"]: one for one in told["schedules"]}
    assert one["mail"] == {
        "name": "mail",
        "result": "done",
        "job": job("mail").id,
        "schedule": "switched off",
        "text": "testapp.note, 0 30 7 * * mon,fri Europe/Berlin; its schedule is switched off",
        "not_carried_over": [],
    }
    assert (one["sunrise"]["result"], one["sunrise"]["schedule"]) == ("refused", "stays on")

    told = json.loads(imported("--json", "--undo")[1])
    assert (told["undo"], told["jobs"], told["switched_on"]) == (True, 5, 4)


def test_without_the_tables_the_exit_code_is_2():
    for options in ((), ("--undo",)):
        with pytest.raises(CommandError) as error:
            call_command("import_celery_beat", *options)
        assert error.value.returncode == 2


def test_of_two_imports_at_once_the_second_finds_everything_done(celery_beat):
    first, second = overlap(*[lambda: carry_over("default", dry_run=False)] * 2)

    assert {one.name for one in first if one.result == "done"} == CARRIED
    assert {one.name for one in second if one.result == "left alone"} == CARRIED | {"own"}
    assert not any(one.schedule == "switched off" for one in second)


def test_of_two_undos_at_once_the_second_finds_nothing(celery_beat):
    imported()

    first, second = overlap(*[lambda: take_back("default", dry_run=False)] * 2)

    assert (len(first), second) == (len(CARRIED), [])
