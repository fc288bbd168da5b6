"""The views with the data model of the requirements: jobs, their instances, retries and dead tasks, live and past."""

import pytest

from django_punctual import schedule
from tasks_app.archive.leave import leave_all
from tasks_app.archive.search import ColdFilter, search
from tasks_app.engine.beat.mover import move
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.start import start
from tasks_app.models import AnyTask, DlqEntry, JobDefinition, PastTask, ScheduleTask
from tasks_app.sql import execute
from tasks_app.storage.partitions import drop, partitions
from tasks_app.storage.partitions import make as partition
from tests.support.api import Api
from tests.support.archive import SPAN, days_ago, folder
from tests.support.jobs import by, make
from tests.support.marks import commits
from tests.support.moves import FINAL, OK, RETRY, TUESDAY, TYPE, claim_one, dead, settled

pytestmark = commits
OUTCOMES = {"good": OK, "again": RETRY, "dead": FINAL, "replayed": FINAL}


def read(view: str, **wanted: object) -> list[dict]:
    columns = execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %(view)s::regclass AND attnum > 0 ORDER BY attnum",
        {"view": view},
    )
    where = " AND ".join(f"{name} = %({name})s" for name in wanted) or "TRUE"
    rows = execute(f"SELECT * FROM {view} WHERE {where} ORDER BY 1", wanted)
    return [dict(zip([name for (name,) in columns], row, strict=True)) for row in rows]


@pytest.fixture
def job() -> JobDefinition:
    return make(cron="0 9 1 1 *", timezone="Europe/Berlin", lane="high", max_retry=3, backoff=[1, 2])


@pytest.fixture
def ids(job) -> dict[str, int]:
    """The instances of a job: one succeeded, one waits for its next try, one is dead, one was dead and is replayed."""
    ids = {key: verbs.trigger(job.id, key, by()).task_id for key in OUTCOMES}
    batch = start(claim_one(), "worker:1")
    outcomes = dict(zip(ids.values(), OUTCOMES.values(), strict=True))
    settled(batch, *(outcomes[task.id] for task in batch.tasks))
    replay([ids["replayed"]], "olga")
    return ids


def go_to_the_past() -> None:
    execute("UPDATE punctual_task SET updated_at = updated_at - interval '1 h'")
    execute("UPDATE punctual_batch SET finished_at = finished_at - interval '1 h'")
    move()


def test_a_job_definition_has_its_schedule_its_priority_and_its_retry_policy(job):
    every = make("every minute", every=60, tenant="acme")

    [row, other] = read("punctual_job_definition")

    assert row == {
        "job_id": job.id,
        "tenant_id": "default",
        "cron": "0 9 1 1 *",
        "timezone": "Europe/Berlin",
        "status": "ACTIVE",
        "priority": "high",
        "retry_policy": {"max_retry": 3, "backoff": [1, 2]},
        "created_at": job.created_at,
    }
    assert (other["job_id"], other["tenant_id"], other["cron"]) == (every.id, "acme", None)
    assert other["retry_policy"] == {"max_retry": every.max_retry, "backoff": None}


def test_a_job_instance_says_what_became_of_it(job, ids):
    rows = {row["instance_id"]: row for row in read("punctual_job_instance", job_id=job.id)}
    states = {key: (rows[task]["state"], rows[task]["attempt"]) for key, task in ids.items()}
    task = ScheduleTask.objects.get(id=ids["good"])

    assert states == {"good": ("SUCCESS", 0), "again": ("FAIL", 1), "dead": ("DEAD", 1), "replayed": ("INIT", 0)}
    assert rows[ids["good"]] == {
        "instance_id": task.id,
        "job_id": job.id,
        "fire_time": task.fire_time,
        "state": "SUCCESS",
        "attempt": 0,
        "worker_id": "worker:1",
        "idem_key": f"{job.id}:m:good",
        "updated_at": task.updated_at,
    }


def test_an_instance_is_the_same_once_it_is_in_the_past(ids):
    [live] = read("punctual_job_instance", instance_id=ids["good"])

    go_to_the_past()

    assert PastTask.objects.filter(id=ids["good"]).exists()
    [past] = read("punctual_job_instance", instance_id=ids["good"])
    assert past == live | {"updated_at": AnyTask.objects.get(id=ids["good"]).updated_at}


def test_an_instance_that_runs_names_its_worker_and_one_that_waits_names_none(job):
    waiting = schedule(TYPE, "waiting", at=TUESDAY).task_id
    task = verbs.trigger(job.id, "runs", by()).task_id
    start(claim_one(), "worker:2")

    found = {row["instance_id"]: row for row in read("punctual_job_instance")}

    assert (found[task]["state"], found[task]["worker_id"]) == ("RUNNING", "worker:2")
    assert found[waiting] | {"updated_at": None} == {
        "instance_id": waiting,
        "job_id": None,
        "fire_time": None,
        "state": "INIT",
        "attempt": 0,
        "worker_id": None,
        "idem_key": None,
        "updated_at": None,
    }


def test_a_retry_entry_is_what_failed_and_will_be_tried_again(ids):
    task = ScheduleTask.objects.get(id=ids["again"])

    assert read("punctual_retry_entry") == [
        {"instance_id": task.id, "next_fire_time": task.due_at, "attempt": 1, "reason": "BROKEN"}
    ]


def test_a_dlq_entry_is_what_gave_up_and_says_whether_it_was_replayed(ids):
    died = dict(DlqEntry.objects.values_list("task_id", "created_at"))

    assert read("punctual_dlq_entry") == [
        {
            "instance_id": ids[key],
            "error_code": "HOPELESS",
            "payload_ref": f"tasks/{ids[key]}",
            "created_at": died[ids[key]],
            "replay_status": status,
        }
        for key, status in (("dead", "OPEN"), ("replayed", "REPLAYED"))
    ]


@pytest.fixture
def _no_past_days_left():
    yield
    for one in partitions("punctual_past_default"):
        drop(one)


@pytest.mark.usefixtures("_no_past_days_left")
def test_a_payload_is_found_by_its_reference_while_it_is_live_in_the_past_and_in_the_archive(tmp_path):
    [task] = dead("a", payload={"order": 17})
    [entry] = read("punctual_dlq_entry")
    assert Api().get("/" + entry["payload_ref"]).body["payload"] == {"order": 17}

    schedule(TYPE, "a", at=TUESDAY)  # replaces the dead task
    go_to_the_past()
    assert PastTask.objects.get().id == task
    assert Api().get("/" + entry["payload_ref"]).body["payload"] == {"order": 17}

    partition("punctual_past_default", [days_ago(20)], SPAN)
    execute("UPDATE punctual_past SET updated_at = %(then)s", {"then": days_ago(20)})
    leave_all(folder(tmp_path), "me")
    assert not PastTask.objects.exists()
    [row] = [one for one in search(folder(tmp_path), ColdFilter()).rows if f"tasks/{one['id']}" == entry["payload_ref"]]
    assert (row["status"], row["payload"]) == ("DEAD", {"order": 17})
