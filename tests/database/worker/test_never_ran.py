"""A handler that looks like a plain function but gives back work that nobody does fails its task, in every mode."""

import functools
import gc
import warnings

import pytest

from django_punctual import handler, schedule_many
from tasks_app.core.handlers import REGISTRY
from tests.support.engine import row, run_due

pytestmark = pytest.mark.django_db(transaction=True)


def sync_decorator(call):
    @functools.wraps(call)
    def around(*args):
        return call(*args)

    return around


async def coroutine(*args): ...


def generator(*args):
    yield


async def async_generator(*args):
    yield


class Awaitable:
    def __init__(self, *args) -> None: ...

    def __await__(self):
        yield


def unapplied(task, answer): ...


@pytest.fixture
def declare():
    """Declares a handler and returns its type."""
    declared = []

    def declare(call, **options) -> str:
        declared.append(f"T_NEVER_RAN_{len(declared)}")
        handler(declared[-1], timeout=30, backoff=[60], **options)(call)
        return declared[-1]

    yield declare
    for name in declared:
        REGISTRY.discard(name)


def outcomes(task_types: list[str]) -> set[tuple[str, str]]:
    """Of two tasks of each; whatever Python has to say about work that nobody did is an error."""
    scheduled = [p for one in task_types for p in schedule_many(one, [{"key": n} for n in range(2)])]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run_due()
        gc.collect()
    assert [str(one.message) for one in said] == []
    return {(one.status, one.error_code) for one in (row(p.task_id) for p in scheduled)}


MODES = {
    "one by one": {},
    "threads": {"concurrency": 4},
    "batch": {"batch": True},
    "transactional": {"transactional": True},
    "transactional batch": {"transactional": True, "batch": True},
    "apply": {"apply": unapplied},
    "apply and threads": {"apply": unapplied, "concurrency": 4},
}


@pytest.mark.parametrize("mode", MODES)
def test_work_that_nobody_does_fails_its_task(declare, mode):
    calls = [coroutine, generator, async_generator, Awaitable]

    assert outcomes([declare(sync_decorator(call), **MODES[mode]) for call in calls]) == {("FAIL", "NEVER_RAN")}


def test_an_apply_whose_work_nobody_does_fails_its_task(declare):
    types = [declare(lambda task: 1, apply=sync_decorator(call)) for call in (coroutine, generator)]

    assert outcomes(types) == {("FAIL", "NEVER_RAN")}


@pytest.mark.parametrize("options", [{}, {"batch": True}, {"apply": unapplied}])
def test_an_async_handler_that_forgets_to_await_fails_its_task(declare, options):
    async def forgets_a_coroutine(task):
        return coroutine(task)

    async def forgets_a_generator(task):
        return generator(task)

    types = [declare(call, **options) for call in (forgets_a_coroutine, forgets_a_generator)]

    assert outcomes(types) == {("FAIL", "NEVER_RAN")}


def test_the_error_says_what_came_back_and_what_to_do(declare):
    (scheduled,) = schedule_many(declare(sync_decorator(coroutine)), [{"key": "a"}])

    run_due()

    assert row(scheduled.task_id).error_msg == (
        "the handler returned a coroutine, and none of it was run. Await it: declare the async function itself, "
        "without a decorator that is not async."
    )


@pytest.mark.parametrize("mode", ["one by one", "threads", "transactional"])
def test_any_other_answer_is_ignored(declare, mode):
    answers = [None, 0, "done", {"a": 1}, [1], object()]

    types = [declare(lambda task, answer=answer: answer, **MODES[mode]) for answer in answers]

    assert outcomes(types) == {("SUCCESS", "")}
