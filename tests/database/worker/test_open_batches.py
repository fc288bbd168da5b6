"""Batches of callbacks that are open side by side in one worker process.

A slow receiver keeps connections and no worker, lanes keep their order, and whatever becomes of one batch, the others
are settled."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from uuid import UUID

import pytest
from django.db import connection

from django_punctual import schedule, schedule_many
from tasks_app import outgoing
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.worker import watchdog
from tasks_app.engine.worker.batch_run import BatchRun
from tasks_app.engine.worker.callbacks import end_callbacks, endpoints, lines
from tasks_app.engine.worker.callbacks.batch import OpenBatch
from tasks_app.engine.worker.callbacks.clerk import hand_over
from tasks_app.engine.worker.callbacks.endpoints import endpoint_of
from tasks_app.engine.worker.callbacks.switchboard import switchboard
from tasks_app.engine.worker.executor import BatchReport, run_batch
from tasks_app.lifecycle import hosts
from tasks_app.lifecycle.hosts import Called
from tasks_app.lifecycle.start import start
from tasks_app.models import HostHealth, TaskBatch
from tests.support.engine import claim_due, expire_lease, row
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.receiver import HERE, Call, Receiver, Reply, receiver
from tests.support.wait import wait_until

pytestmark = commits
PATIENCE = 20.0  # seconds until a test that waits for what never comes fails


@pytest.fixture(autouse=True)
def _calls_here(settings) -> Iterator[None]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE, "HOST_FAILURES": 3, "HOST_TRY_SECONDS": 600.0}
    yield
    outgoing.client._client("").close()


@pytest.fixture
def quick() -> Iterator[Receiver]:
    with receiver() as one:
        yield one


class Slow:
    """A receiver that answers when it may."""

    def __init__(self, there: Receiver) -> None:
        self.url = there.url
        self.may_answer = threading.Event()
        self.asked = threading.Semaphore(0)
        self.calls = there.calls
        self.answered: list[str] = []  # whose calls, in their order
        there.reply = self._reply

    def _reply(self, call: Call) -> Reply:
        self.asked.release()
        in_time = self.may_answer.wait(PATIENCE)
        self.answered.append(call.headers["punctual-tenant"])
        return Reply(200 if in_time else 400)

    def await_calls(self, number: int = 1) -> None:
        for _ in range(number):
            assert self.asked.acquire(timeout=PATIENCE)


@pytest.fixture
def slow() -> Iterator[Slow]:
    with receiver() as there:
        one = Slow(there)
        yield one
        one.may_answer.set()


def callback(there: Receiver | Slow, key: str = "a", **others: object) -> int:
    return schedule(HTTP_CALLBACK, key, payload={"url": there.url, "sign": "", "timeout": 30}, **others).task_id


def callbacks(there: Receiver | Slow, number: int, prefix: str = "many", **others: object) -> list[int]:
    tasks = [{"key": f"{prefix} {n}", "payload": {"url": there.url, "sign": "", "timeout": 30}} for n in range(number)]
    return [one.task_id for one in schedule_many(HTTP_CALLBACK, tasks, **others)]


def run_next() -> BatchReport:
    """As a worker does that has got the next message."""
    [claimed] = claim_due()
    return run_batch(UUID(claimed.batch_no))


def opened() -> OpenBatch:
    """What is due as a batch of which the test keeps the times, and whose calls may begin."""
    [claimed] = claim_due()
    batch = OpenBatch(
        BatchRun(start(UUID(claimed.batch_no), "worker-1"), REGISTRY.get(HTTP_CALLBACK)), threading.Event()
    )
    batch.open()
    return batch


def drive(*batches: OpenBatch) -> None:
    wait_until(lambda: False not in [one.tick() for one in batches], PATIENCE)
    for one in batches:
        one.close()


def wait_success(*ids: int) -> None:
    wait_until(lambda: {row(one).status for one in ids} == {"SUCCESS"}, PATIENCE)


def test_a_worker_takes_the_next_batch_while_a_slow_receiver_has_calls_of_the_first(quick, slow):
    first = callback(slow)
    report = run_next()
    slow.await_calls()
    assert report.open

    second = callback(quick, "b")
    run_next()

    wait_success(second)
    assert row(first).status == "RUNNING"
    slow.may_answer.set()
    wait_success(first)
    wait_until(lambda: not TaskBatch.objects.filter(finished_at=None).exists(), PATIENCE)


def test_its_leases_are_renewed_and_a_batch_that_was_lost_settles_nothing(slow, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"HEARTBEAT_SECONDS": 0.1}
    kept = callback(slow)
    run_next()
    lost = callback(slow, "b")
    run_next()
    slow.await_calls(2)
    batches = {one.ids[0]: one for one in TaskBatch.objects.all()}
    for batch in batches.values():
        expire_lease(str(batch.batch_no))
    wait_until(
        lambda: all(one.lease_until > batches[one.ids[0]].lease_until for one in TaskBatch.objects.all()), PATIENCE
    )

    TaskBatch.objects.filter(batch_no=batches[lost].batch_no).update(finished_at=batches[lost].claimed_at)
    slow.may_answer.set()

    wait_success(kept)
    end_callbacks(PATIENCE)
    assert row(lost).status == "RUNNING"


def test_a_task_of_a_more_urgent_lane_gets_the_next_free_connection(slow, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 1}
    callbacks(slow, 3)
    first = opened()
    slow.await_calls()
    callback(slow, "urgent", lane="critical")
    second = opened()

    slow.may_answer.set()
    drive(first, second)

    assert [call.headers["punctual-key"] for call in slow.calls].index("urgent") == 1


def test_tenants_take_turns_however_many_endpoints_one_of_them_calls(quick, slow, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 1}
    callbacks(slow, 5)
    first = opened()
    slow.await_calls()
    callbacks(quick, 5, "other endpoint")
    callbacks(slow, 5, tenant="acme")
    order: list[str] = []
    quick.reply = lambda call: order.append(call.headers["punctual-tenant"]) or Reply()
    slow.answered = order
    second = opened()

    slow.may_answer.set()
    drive(first, second)

    assert order.count("default") == 10
    assert order[1:11].count("acme") == 5  # every other one of those that waited


def test_a_slow_receiver_leaves_connections_to_an_endpoint_that_was_never_called(quick, slow, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 8}
    callbacks(slow, 30)
    run_next()
    slow.await_calls(2)

    later = callbacks(quick, 30, "quick")
    run_next()

    wait_success(*later)
    assert not slow.asked.acquire(blocking=False)  # it has two connections until it has answered
    slow.may_answer.set()


def test_what_can_not_begin_soon_is_due_again_later_and_other_tasks_have_its_place(quick, slow, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 8}
    [first] = callbacks(slow, 1, "first")
    run_next()
    slow.await_calls()
    endpoint_of(Called("default", slow.url.split("/")[2])).seconds = 20.0
    ids = callbacks(slow, 20)
    run_next()
    wait_until(lambda: [row(one).error_code for one in ids].count("HOST_LIMIT") == 19, PATIENCE)

    waiting = sorted(row(one).due_at for one in ids if row(one).error_code == "HOST_LIMIT")
    assert (waiting[-1] - waiting[0]).total_seconds() > 50  # four at a time, 20 s each
    assert {row(one).attempt for one in ids} == {0}
    slow.may_answer.set()
    wait_success(first)


def test_a_call_to_a_new_host_does_not_wait_in_a_worker_whose_other_new_hosts_hang(quick, slow, settings, monkeypatch):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 2}
    monkeypatch.setattr(endpoints, "FIRST_SECONDS", 60.0)
    monkeypatch.setattr(lines, "HOLD_SECONDS", 0.1)
    hanging = callback(slow)
    run_next()
    slow.await_calls()
    waiting = callback(quick, "b")
    run_next()

    wait_until(lambda: row(waiting).error_code == "HOST_LIMIT", PATIENCE)
    assert "connections for new hosts are in use" in row(waiting).error_msg
    slow.may_answer.set()
    wait_success(hanging)


def test_when_one_batch_finds_a_host_unwell_the_others_stop_calling_it(quick, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 1}
    with receiver() as gate_of:
        gate = Slow(gate_of)
        callback(gate, "gate")
        first = opened()
        gate.await_calls()
        quick.reply = lambda call: Reply(503)
        failing = callbacks(quick, 3, "failing")
        second = opened()
        waiting = callbacks(quick, 10, "waiting", lane="low")
        third = opened()

        gate.may_answer.set()
        drive(first, second, third)

    assert {row(one).error_code for one in failing} == {"HTTP_503"}
    assert {row(one).error_code for one in waiting} <= {"HOST_UNWELL", "HTTP_503"}
    assert len(quick.calls) < 8
    assert HostHealth.objects.get().unwell_since is not None


def test_what_waits_in_an_open_batch_is_sent_back_when_its_host_is_found_unwell_elsewhere(quick, slow, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 1}
    callback(slow, "gate")
    first = opened()
    slow.await_calls()
    waiting = callbacks(quick, 10, "waiting")
    second = opened()

    switchboard().shut(Called("default", quick.url.split("/")[2]), 30.0)
    slow.may_answer.set()
    drive(first, second)

    assert quick.calls == []
    assert {row(one).error_code for one in waiting} == {"HOST_UNWELL"}


def test_the_success_of_a_try_releases_what_waits_while_its_own_batch_is_still_open(quick, slow):
    quick.reply = lambda call: Reply(503)
    callbacks(quick, 3, "failing")
    run_next()
    wait_until(lambda: HostHealth.objects.filter(unwell_since__isnull=False).exists(), PATIENCE)
    waiting = callbacks(quick, 5, "waiting")
    run_next()
    wait_until(lambda: {row(one).error_code for one in waiting} == {"HOST_UNWELL"}, PATIENCE)
    far = {row(one).due_at for one in waiting}
    quick.reply = lambda call: Reply()

    called = Called("default", quick.url.split("/")[2])
    hosts.try_now(called, operator())
    callback(slow, "beside")
    run_next()

    wait_until(lambda: not HostHealth.objects.exists(), PATIENCE)
    wait_until(lambda: len({row(one).due_at for one in waiting} & far) == 0, PATIENCE)
    slow.await_calls()
    slow.may_answer.set()


def test_what_surrounds_a_batch_ends_with_no_error_if_there_was_none(quick):
    task, ends = callback(quick), []
    [claimed] = claim_due()
    run = BatchRun(start(UUID(claimed.batch_no), "worker-1"), REGISTRY.get(HTTP_CALLBACK))
    with ExitStack() as around:
        around.push(lambda *error: ends.append(error))
        hand_over(run, around)

    wait_until(lambda: ends, PATIENCE)
    assert ends == [(None, None, None)]
    wait_success(task)


def test_a_batch_that_can_not_be_settled_does_not_end_the_others(quick, slow, caplog):
    broken = callback(slow, "broken")
    run_next()
    slow.await_calls()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION pg_temp_refuse() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'this task can not be settled'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE UPDATE ON punctual_task FOR EACH ROW "
            "WHEN (OLD.biz_key = 'broken' AND NEW.status = 'SUCCESS') EXECUTE FUNCTION pg_temp_refuse()"
        )
    try:
        slow.may_answer.set()
        wait_until(lambda: "batch.failed" in caplog.text, PATIENCE)

        after = callback(quick, "after")
        run_next()
        wait_success(after)
        assert row(broken).status == "RUNNING"
    finally:
        end_callbacks(PATIENCE)
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse ON punctual_task")
            cursor.execute("DROP FUNCTION pg_temp_refuse")


def test_when_the_process_ends_nothing_more_is_begun_and_what_is_in_progress_is_written(slow, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"CALLBACK_CONNECTIONS": 2}
    ids = callbacks(slow, 5)
    run_next()
    slow.await_calls()  # else no call may have begun yet
    watchdog.end_callbacks(0.0)
    slow.may_answer.set()
    end_callbacks(PATIENCE)

    assert sorted(row(one).status for one in ids) == ["INIT"] * 4 + ["SUCCESS"]
    run_next()
    wait_success(*ids)
