"""What a failover has taken back although a worker or a subscriber had seen it is found, and told once."""

import json
from dataclasses import replace
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.db.models.functions import Now

from django_punctual import handler
from tasks_app.conf import conf
from tasks_app.core.events import Event
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.witness import KEPT_TASKS, TOLD, WITNESS, Witness, note_server, server_timeline
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.claim import return_unstarted
from tasks_app.lifecycle.installation import look, read_installation
from tasks_app.lifecycle.start import start
from tasks_app.models import AuditEntry, OutboxEvent, ScheduleTask, TaskBatch
from tests.support.contend import contend
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.moves import claimed, scheduled, state
from tests.support.quarantine import noted
from tests.support.site import at

SKIPPED = 1_000_000  # numbers, after a failover

pytestmark = commits


@pytest.fixture
def row():
    look()
    return replace(read_installation(), standbys={"10.0.0.2": 1.0})


def promoted(row):
    return replace(row, facts=replace(row.facts, timeline=row.facts.timeline + 1))


def witness(row) -> Witness:
    one = Witness()
    note_server(row)
    one.compare(row, beat=True)
    return one


def fail_over(seen: Witness, row) -> None:
    """The connection leads to another server from now on."""
    note_server(promoted(row))
    seen.compare(promoted(row), beat=False)


def noted_tasks() -> list[tuple]:
    found = AuditEntry.objects.filter(verb="failover").order_by("task_id")
    return [(one.outcome, one.task_id, one.tenant) for one in found]


def test_a_batch_that_was_settled_and_is_not_known_any_more_is_noted_once_whoever_says_so(row):
    number = claimed("a", "b")
    kept, lost = start(number, "w"), start(claimed("c"), "w")
    run_batch(claimed("d"), guarded=False)
    seen = witness(row)
    seen.settled(replace(kept, batch_no=uuid4()))
    seen.settled(lost)  # started there, and never settled
    again = witness(row)
    again.settled(lost)

    for one in (seen, again):
        one.compare(promoted(row), beat=False)
        one.compare(promoted(row), beat=False)

    expected = [("settled and lost", task.id, "default") for task in [*kept.tasks, *lost.tasks]]
    assert noted_tasks() == sorted(expected, key=lambda one: one[1])


def test_a_batch_that_a_beat_has_given_back_since_was_not_settled_here(row):
    """The claim had got to the standby, and its start had not."""
    number = claimed("a")
    there = start(number, "w")
    TaskBatch.objects.filter(batch_no=number).update(started_at=None, worker="", ticket=None)
    seen = witness(row)
    seen.settled(there)

    assert return_unstarted([TaskBatch.objects.get(batch_no=number).dispatcher]) == 1
    seen.compare(promoted(row), beat=False)

    assert noted_tasks() == [("settled and lost", there.tasks[0].id, "default")]


def test_what_is_settled_on_the_new_primary_too_is_not_noted(row, monkeypatch):
    seen = witness(row)
    monkeypatch.setattr("tasks_app.engine.worker.executor.WITNESS", seen)
    report = run_batch(claimed("a", "b"), guarded=False)

    assert (report.settled, len(seen._batches)) == (2, 1)
    seen.compare(promoted(row), beat=False)

    assert (noted_tasks(), len(seen._batches)) == ([], 0)


@pytest.mark.parametrize("kept", [False, True])
def test_a_run_whose_start_is_not_known_any_more_is_noted_and_one_that_was_reaped_is_not(row, monkeypatch, kept):
    seen = witness(row)
    monkeypatch.setattr("tasks_app.engine.worker.executor.WITNESS", seen)

    @handler("T_FAILING_OVER")
    def lose_primary(task) -> None:
        """The standby has the start of the batch, and reaps it, or has never seen it."""
        fail_over(seen, row)
        batches = TaskBatch.objects.filter(started_at__isnull=False)
        batches.update(finished_at=Now(), reaped=True) if kept else batches.delete()

    try:
        report = run_batch(claimed("a", "b", task_type="T_FAILING_OVER"), guarded=False)
    finally:
        REGISTRY.discard("T_FAILING_OVER")

    ids = ScheduleTask.objects.order_by("id").values_list("id", flat=True)
    assert (report.settled, noted_tasks()) == (0, [] if kept else [("begun and lost", one, "default") for one in ids])


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("options", [{}, {"apply": lambda task, answer: None}], ids=["plain", "two-phase"])
def test_what_was_settled_while_its_batch_went_on_is_noted_and_due_again_if_it_is_not_known_any_more(
    row, monkeypatch, options, kept
):
    seen = witness(row)
    for module in ("executor", "batch_run"):
        monkeypatch.setattr(f"tasks_app.engine.worker.{module}.WITNESS", seen)
    monkeypatch.setattr("tasks_app.engine.worker.batch_run.FLUSH_SECONDS", 0.0)
    calls: list[str] = []

    @handler("T_FAILING_OVER", **options)
    def lose_primary(task) -> None:
        """While the second is called. The standby has the start of the batch, and perhaps its first outcome."""
        calls.append(task.key)
        if calls == ["a", "b"]:
            assert state(first).status == "SUCCESS"
            if not kept:
                ScheduleTask.objects.filter(id=first).update(status="RUNNING", batch_no=number, ran_in=None)
            fail_over(seen, row)

    try:
        number = claimed("a", "b", "c", task_type="T_FAILING_OVER")
        first = ScheduleTask.objects.get(biz_key="a").id
        run_batch(number, guarded=False)
        assert noted_tasks() == ([] if kept else [("settled and lost", first, "default")])
        assert TaskBatch.objects.get(batch_no=number).finished_at is not None
        assert state(first).status == ("SUCCESS" if kept else "INIT")
        run_due()
    finally:
        REGISTRY.discard("T_FAILING_OVER")

    assert calls == (["a", "b", "c"] if kept else ["a", "b", "c", "a"])
    assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"SUCCESS"}


def test_without_a_standby_nothing_is_kept_and_with_one_not_more_than_so_much(row, redis):
    batch = start(claimed("a"), "w")
    idle = witness(replace(row, standbys={}))
    idle.settled(batch)
    idle.told("them", [event_of(1)])
    busy = witness(row)
    many = replace(batch, tasks=batch.tasks * (KEPT_TASKS // 3))
    for _ in range(5):
        busy.settled(many)

    assert (len(idle._batches), redis.exists(conf().redis_key(TOLD))) == (0, 0)
    assert len(busy._batches) == 3


def event_of(row: int, task: int = 7) -> Event:
    time = OutboxEvent.objects.earliest("id").created_at if OutboxEvent.objects.exists() else look().since
    return Event(row=row, place=1, type="task.succeeded", time=time, tenant="acme", task_type="T", key="k", task=task)


@pytest.mark.usefixtures("every_event")
def test_an_event_that_was_told_and_is_not_known_any_more_is_noted_by_the_next_beat(row):
    scheduled("a")
    there = OutboxEvent.objects.latest("id")
    told = witness(row)
    told.told("billing", [event_of(there.id)._replace(time=there.created_at)])
    told.told("billing", [event_of(there.id + 1, task=8)])
    told.told("shop", [event_of(there.id, task=9)._replace(time=row.since)])  # its number was given out again

    Witness().compare(promoted(row), beat=True)  # it has just started: who told them is dead
    told.compare(promoted(row), beat=True)

    assert noted_tasks() == [("told and lost", 8, "acme"), ("told and lost", 9, "acme")]
    detail = AuditEntry.objects.get(verb="failover", task_id=8).detail
    assert (detail["event"], detail["to"]) == ("task.succeeded", "billing")


def test_what_was_told_about_no_task_or_for_two_tenants_is_noted_each(row):
    told = witness(row)
    lane = event_of(10**9)._replace(type="lane.paused", task=None, task_type=None, key=None)
    unit = event_of(10**9 + 2)._replace(task=None)
    told.told("billing", [lane, lane._replace(row=lane.row + 1)])
    told.told("billing", [unit, unit._replace(row=unit.row + 1, tenant="umbrella")])

    told.compare(promoted(row), beat=True)

    subjects = AuditEntry.objects.filter(verb="failover").values_list("subject", flat=True)
    assert sorted(subjects) == [
        "acme T k",
        "event lane.paused in row 1000000000",
        "event lane.paused in row 1000000001",
        "umbrella T k",
    ]


@pytest.mark.usefixtures("every_event")
def test_a_new_connection_of_a_beat_looks_for_them_too(row, monkeypatch):
    """That is the first look after a failover, and the only one that finds another timeline."""
    scheduled("a")
    there = OutboxEvent.objects.latest("id")
    witness(row).told("billing", [event_of(there.id + 1, task=8)])
    monkeypatch.setattr(BARRIER, "_beat", True)
    monkeypatch.setattr(WITNESS, "timeline", row.facts.timeline - 1)

    BARRIER.look()

    assert noted_tasks() == [("told and lost", 8, "acme")]


def test_a_look_notes_where_the_connection_leads_to_even_if_nothing_can_be_compared(row, monkeypatch):
    """By that a worker knows that a batch began on another server."""

    def fail(*_, **__):
        raise DatabaseError("not now")

    monkeypatch.setattr("tasks_app.engine.barrier.WITNESS.compare", fail)
    note_server(promoted(row))

    BARRIER.look()

    assert server_timeline() == row.facts.timeline


def test_a_process_of_a_site_that_was_left_looks_for_them_too(row, monkeypatch):
    """The site before has seen what was lost with the primary, and the other one has not."""
    WITNESS.compare(row, beat=False)
    lost = start(claimed("a"), "w")
    WITNESS.settled(lost)
    monkeypatch.setattr(WITNESS, "timeline", row.facts.timeline - 1)

    with at("b"):
        BARRIER.look()

    assert BARRIER.standing_by
    assert noted_tasks() == [("settled and lost", lost.tasks[0].id, "default")]


def test_a_fault_in_the_comparison_keeps_no_process_from_its_work(row, caplog):
    """It is for people to read, and was made when a connection was: without this no connection could be made again."""
    WITNESS.compare(row, beat=False)
    for number in (uuid4(), str(uuid4())):  # no statement takes both
        WITNESS.settled(replace(start(claimed(str(number)), "w"), batch_no=number))
    WITNESS.timeline -= 1

    BARRIER.look()

    assert BARRIER.open
    assert "failover.not_compared error='cannot dump lists of mixed types" in caplog.text
    assert len(WITNESS._batches) == 2  # compared again at the next look


def test_rubbish_in_redis_stops_no_beat(row, redis):
    redis.xadd(conf().redis_key(TOLD), {"rows": "[[1]]"})
    redis.xadd(conf().redis_key(TOLD), {"other": "x"})

    witness(row)

    assert noted_tasks() == []


def test_the_report_lists_them_and_says_when_there_are_none(row):
    out = StringIO()
    call_command("failover", "report", stdout=out)
    assert "Nothing that anybody had seen" in out.getvalue()
    batch = start(claimed("a"), "w")
    seen = witness(row)
    seen.settled(batch)
    seen.told("billing", [event_of(10**9, task=8)])
    seen.compare(promoted(row), beat=True)

    for options in ([], ["--json"]):
        out = StringIO()
        with pytest.raises(SystemExit, match="1"):
            call_command("failover", "report", *options, stdout=out)
        if not options:
            assert f"task {batch.tasks[0].id} ({batch.task_type}, default): batch {batch.batch_no}" in out.getvalue()
            assert "task 8 (T, acme): task.succeeded to billing" in out.getvalue()
    assert {one["task"] for one in json.loads(out.getvalue())["taken_back"]} == {batch.tasks[0].id, 8}
    with pytest.raises(CommandError, match="--since") as refused:
        call_command("failover", "report", "--since", "soon")
    assert refused.value.returncode == 2  # 1 would say that something was taken back


@pytest.mark.usefixtures("every_event")
def test_numbers_that_a_lost_primary_may_have_given_out_are_not_given_out_again():
    [before] = scheduled("a")
    noted(timeline=0, standbys={"": 1.0, "127.0.0.1": 1.0})

    assert look().state == "ACTIVE"

    [after] = scheduled("b")
    assert after - before > SKIPPED
    assert OutboxEvent.objects.latest("id").id > SKIPPED
    assert ScheduleTask.objects.count() == 2


@pytest.mark.usefixtures("every_event")
def test_nor_are_they_before_anybody_has_looked_at_the_new_primary():
    noted(timeline=0)
    [before] = scheduled("a")
    event = OutboxEvent.objects.latest("id").id
    connection.close()  # a session knows which server it is on

    after = scheduled("b", "c")
    again = scheduled("d")

    assert after[0] - before > SKIPPED
    assert [*after, *again] == list(range(after[0], after[0] + 3))  # only the first statement of a session looks
    assert OutboxEvent.objects.latest("id").id - event > SKIPPED


def test_two_sessions_that_skip_together_set_nothing_back():
    noted(timeline=0)
    drawn = []

    def skip_as_another_session_does():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('punctual_numbers', 0))")
            cursor.execute("SELECT setval(s, nextval(s) + 100) FROM pg_get_serial_sequence('punctual_task', 'id') AS s")
            drawn.extend(cursor.fetchone())

    def schedule_in_a_new_session():
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('punctual.knows_server', '', FALSE)")
        return scheduled("a")

    [late] = contend(skip_as_another_session_does, schedule_in_a_new_session)

    assert late.waited and late.value[0] > drawn[0] + SKIPPED


def test_a_session_on_the_server_that_is_noted_skips_none():
    noted()
    [before] = scheduled("a")
    connection.close()

    assert scheduled("b") == [before + 1]
