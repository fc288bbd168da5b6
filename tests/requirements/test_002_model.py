"""002 §7, §9 and §10: what the tables hold and keep apart, and what is written together."""

import pytest
from django.db import IntegrityError, connection, transaction

from django_punctual import schedule
from tasks_app.core.task import Failure
from tasks_app.lifecycle.jobs import verbs
from tasks_app.models import DlqEntry, OutboxEvent, ScheduleTask, TaskAttempt, TaskBatch
from tasks_app.sql import execute
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.events import kinds, told
from tests.support.jobs import by, instances, make
from tests.support.marks import commits
from tests.support.moves import FINAL, dead, settled, started

pytestmark = commits


def indexes(table: str) -> set[str]:
    """What each is of, as PostgreSQL writes it."""
    rows = execute("SELECT indexdef FROM pg_indexes WHERE tablename = %s", [table])
    return {definition.partition(" USING ")[2] for (definition,) in rows}


# ---- §7


def test_s7_two_tasks_never_have_the_same_idem_key():
    """Of one tenant: another may use the same words."""
    schedule("T_QUIET", "a", idem_key="order-7")
    schedule("T_QUIET", "a", idem_key="order-7", tenant="acme")
    schedule("T_QUIET", "b")

    with pytest.raises(IntegrityError, match="punctual_task_idem"):
        ScheduleTask.objects.filter(biz_key="b", tenant="default").update(idem_key="order-7")


def test_s7_the_same_idem_key_gives_the_task_that_is_there():
    first = schedule("T_QUIET", "a", idem_key="order-7")
    again = schedule("T_QUIET", "b", idem_key="order-7")

    assert (again.task_id, ScheduleTask.objects.count()) == (first.task_id, 1)


def test_s7_a_unit_has_one_current_row():
    schedule("T_QUIET", "a")
    schedule("T_QUIET", "b")

    with pytest.raises(IntegrityError, match="punctual_task_unit"):
        ScheduleTask.objects.filter(biz_key="b").update(biz_key="a")


def test_s7_instances_are_indexed_by_job_and_fire_time():
    """The document has (tenant_id, fire_time). A job is of one tenant, and instances are read by job: an index over all
    instances of a tenant would cost every firing, and no page reads it."""
    assert "btree (job, fire_time) WHERE (job IS NOT NULL)" in indexes("punctual_task")


def test_s7_what_is_due_is_indexed_by_shard_lane_and_time():
    """The document has (state, next_fire_time). No index has the state: it changes in every claim and settle, which
    would have to change the index as well."""
    assert "btree (shard, lane, entry_at, id) WHERE (entry_at IS NOT NULL)" in indexes("punctual_task")
    assert "btree (shard, lane, wait_at) WHERE ((NOT limited) AND (wait_at IS NOT NULL))" in indexes("punctual_task")


def test_s7_a_retry_is_the_task_s_own_row_and_each_failure_has_a_row_with_its_reason():
    """The document has a table `retry_entry`: here next time, attempt and reason are columns of the task, so a retry
    is no second row that could disagree with it."""
    task = schedule("T_QUIET", "a", payload={"do": "crash"}).task_id
    run_due()

    waits = row(task)
    assert (waits.status, waits.attempt, waits.error_code, waits.due_at > waits.finish_time) == (
        "FAIL",
        1,
        "KeyError",
        True,
    )
    assert list(TaskAttempt.objects.values_list("task_id", "attempt", "error_code")) == [(task, 1, "KeyError")]


def test_s7_a_dlq_entry_has_the_task_its_error_when_and_whether_it_was_replayed():
    """Instead of `payload_ref` it has the task, whose row keeps its payload as long as the entry is open."""
    [task] = dead("a", payload={"order": 7})

    entry = DlqEntry.objects.get()
    assert (entry.task_id, entry.error_code, entry.replay_status) == (task, "HOPELESS", "OPEN")
    assert row(entry.task_id).payload == {"order": 7}
    with pytest.raises(IntegrityError, match="punctual_dead_letter_one_open"):
        DlqEntry.objects.create(task_id=task, tenant="default", task_type="T_QUIET", error_code="X", error_msg="")


def test_s7_a_worker_stands_at_the_batch():
    batch = started("a")

    assert TaskBatch.objects.get(batch_no=batch.batch_no).worker == "worker"


# ---- §9


def test_s9_what_succeeds_is_done_and_what_fails_is_tried_again_or_dead():
    """`DONE` is called SUCCESS, as in documents 000, 001 and 003."""
    ok, fails, dies = (schedule("T_QUIET", do, payload={"do": do}).task_id for do in ("ok", "crash", "die"))
    run_due()

    assert [row(one).status for one in (ok, fails, dies)] == ["SUCCESS", "FAIL", "DEAD"]
    assert [row(one).due_at is None for one in (ok, fails, dies)] == [True, False, True]


def test_s9_the_next_firing_is_written_before_its_time():
    """Instances are made up to 60 s ahead, as the time wheel's slots would be filled."""
    job = make(cron="* * * * *")

    assert 1 <= len(instances(job)) <= 2
    assert {one.status for one in instances(job)} == {"INIT"}


# ---- §10


def test_s10_the_idem_key_of_an_instance_is_its_job_and_fire_time():
    job = make(cron="* * * * *")

    for one in instances(job):
        assert one.idem_key == f"{job.id}:{one.fire_time:%Y-%m-%dT%H:%M:%SZ}" == one.biz_key


def test_s10_the_same_firing_can_not_be_written_twice():
    job = make(cron="* * * * *")
    first = instances(job)[0]
    other = schedule("T_QUIET", "other").task_id

    with pytest.raises(IntegrityError), transaction.atomic():
        ScheduleTask.objects.filter(id=other).update(idem_key=first.idem_key)


def test_s10_a_consumer_gets_the_idem_key_with_the_event():
    job = make(every=3600, max_retry=0, payload={"do": "die"})
    verbs.trigger(job.id, "k", by())
    run_due()

    [event] = told("task.dead")
    assert (event.idem_key, event.job) == (f"{job.id}:m:k", job.id)


@pytest.mark.parametrize("event", ["task.dead", "task.failed"])
def test_s10_without_its_event_no_state_changes(event):
    """One transaction: here the outbox refuses the event, and the settle is undone with it."""
    batch = started("a")
    outcome = FINAL if event == "task.dead" else Failure("BROKEN", "it failed")
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE punctual_outbox ADD CONSTRAINT no_more CHECK (event <> '{event}') NOT VALID")
    try:
        with pytest.raises(IntegrityError, match="no_more"):
            settled(batch, outcome)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE punctual_outbox DROP CONSTRAINT no_more")

    assert (row(batch.tasks[0].id).status, kinds(), DlqEntry.objects.count()) == ("RUNNING", [], 0)
    settled(batch, outcome)
    assert kinds() == [event]


def test_s10_an_event_is_gone_with_the_state_that_is_rolled_back():
    batch = started("a")
    with transaction.atomic():
        settled(batch, FINAL)
        assert kinds() == ["task.dead"]
        transaction.set_rollback(True)

    assert (row(batch.tasks[0].id).status, OutboxEvent.objects.count()) == ("RUNNING", 0)


def test_s10_a_success_has_no_event():
    """Default changes with the table of defaults: `EVENTS` leaves out `task.created`, `task.released` and
    `task.succeeded`, since they would triple what is written. With them, a success has its event in the same way."""
    schedule("T_QUIET", "a")
    run_due()

    assert (ScheduleTask.objects.get().status, kinds()) == ("SUCCESS", [])


def test_s10_a_success_has_its_event_where_all_are_kept(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["*"]}
    schedule("T_QUIET", "a")
    run_due()

    assert kinds() == ["task.created", "task.succeeded"]


def test_s10_the_token_for_side_effects_stays_the_same_over_all_tries():
    task = schedule("T_PLAIN", "a", payload={"do": "retry_until", "attempt": 3, "after": 0}).task_id
    for _ in range(3):
        make_due(task)
        run_due()

    assert row(task).status == "SUCCESS"
    assert execute("SELECT token, count(*) FROM testapp_effect GROUP BY token") == [(row(task).token, 3)]
    assert claim_due() == []
