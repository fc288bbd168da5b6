"""A batch whose lease has ended, as far as its worker knows: no handler of it is called any more, in any mode."""

from collections.abc import Iterator
from math import inf
from uuid import UUID

import pytest

from django_punctual import handler, schedule_many
from tasks_app import outgoing
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.worker import executor
from tasks_app.engine.worker.batch_run import BatchRun
from tasks_app.lifecycle.start import start
from tests.support.engine import claim_due, row, run_due
from tests.support.marks import commits
from tests.support.receiver import HERE, receiver

pytestmark = commits

NAME = "T_LAPSES"
MODES: dict[str, dict[str, object]] = {
    "one by one": {},
    "threads": {"concurrency": 2},
    "one call": {"batch": True},
    "transactional": {"transactional": True},
    "transactional, one call": {"transactional": True, "batch": True},
    "two phases": {"apply": lambda task, answer: None},
    "two phases, threads": {"apply": lambda task, answer: None, "concurrency": 2},
}
WAYS = [(mode, is_async) for mode in MODES for is_async in (False, True) if not (is_async and "transactional" in mode)]
CALLS = [(mode, False) for mode, options in MODES.items() if "batch" not in options] + [("transactional", True)]


@pytest.fixture
def called() -> Iterator[list[str]]:
    yield []
    REGISTRY.discard(NAME)


def started(keys: list[str], task_type: str = NAME, payload: dict | None = None) -> tuple[list[int], BatchRun]:
    ids = [one.task_id for one in schedule_many(task_type, [{"key": key, "payload": payload or {}} for key in keys])]
    [claimed] = claim_due()
    batch = start(UUID(claimed.batch_no), "worker-1")
    return ids, BatchRun(batch, REGISTRY.get(task_type))


def lapse(run: BatchRun) -> None:
    run.contact.lease_until = -inf


def execute(run: BatchRun) -> None:
    executor._execute(run, executor._threads().interrupter)


def states(ids: list[int]) -> set[tuple[str, int]]:
    return {(row(one).status, row(one).retry_count) for one in ids}


@pytest.mark.parametrize(("mode", "is_async"), WAYS)
def test_no_handler_is_called_once_the_lease_has_ended_and_the_tasks_are_due_again(called, mode, is_async):
    def call(about) -> None:
        called.append("called")

    async def call_async(about) -> None:
        called.append("called")

    handler(NAME, **MODES[mode])(call_async if is_async else call)
    ids, run = started(["a", "b", "c"])
    lapse(run)

    execute(run)

    assert called == []
    assert states(ids) == {("INIT", 0)}
    run_due()
    assert called
    assert states(ids) == {("SUCCESS", 0)}


@pytest.mark.parametrize(("mode", "careful"), CALLS)
def test_a_lease_that_ends_during_a_call_leaves_the_calls_after_it_undone(called, mode, careful):
    def call(task) -> None:
        called.append(task.key)
        if careful and len(called) == 1:
            raise KeyError("so that each has a savepoint")
        lapse(run)

    handler(NAME, **MODES[mode] | ({"concurrency": 1} if "threads" in mode else {}))(call)
    ids, run = started(["a", "b", "c"])

    execute(run)

    assert called == (["a", "a"] if careful else ["a"])
    assert states(ids[1:]) == {("INIT", 0)}


def test_what_waits_for_the_loop_while_the_lease_ends_is_not_called(called):
    async def call(task) -> None:
        called.append(task.key)
        lapse(run)  # it has not let the others have the loop

    handler(NAME, concurrency=3)(call)
    ids, run = started(["a", "b", "c"])

    execute(run)

    assert called == ["a"]
    assert states(ids[1:]) == {("INIT", 0)}


def test_no_callback_goes_out_once_the_lease_has_ended(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    with receiver() as there:
        ids, run = started(["a", "b"], HTTP_CALLBACK, {"url": there.url, "sign": "", "timeout": 30})
        lapse(run)

        execute(run)

        assert there.calls == []
    outgoing.client._client("").close()
    assert states(ids) == {("INIT", 0)}


def test_the_lease_counts_from_before_each_renewal_was_asked_for_and_a_lapse_is_for_good(called, settings):
    seen = []

    def call(task) -> None:
        called.append(task.key)
        seen.append(task._contact)

    handler(NAME)(call)
    schedule_many(NAME, [{"key": "a"}])
    run_due(guarded=True)

    assert seen[0].lease_until < inf
    _, run = started(["b"])
    lapse(run)
    assert run.halted
    run.contact.lease_until = inf
    assert run.halted
    assert not run.ending
