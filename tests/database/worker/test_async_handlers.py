"""Async handlers: many at once on one loop, their time-outs, the shutdown, and the database connections they use."""

import asyncio
import contextvars
import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone

from django_punctual import RetryableError, find, handler, schedule, schedule_many, testing
from tasks_app.core.handlers import ASYNC_AT_ONCE, REGISTRY
from tasks_app.engine.worker import shutdown
from tests.support.engine import row, run_due
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

LOCK = 4711


@pytest.fixture
def declare():
    """Declares a handler of T_LOOP; the limits of the tests that stay within them are generous."""

    def declare(call=None, *, timeout=30, **options):
        if call is None:
            return lambda call: declare(call, timeout=timeout, **options)
        return handler("T_LOOP", timeout=timeout, backoff=[60], **options)(call)

    yield declare
    REGISTRY.discard("T_LOOP")


@pytest.fixture
def short_times(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHUTDOWN_SECONDS": 0.1, "TIMEOUT_GRACE_SECONDS": 0.3}
    yield
    shutdown.reset()


def scheduled(*keys) -> list[int]:
    """One batch of T_LOOP tasks, which are begun in the order of their keys."""
    return [p.task_id for p in schedule_many("T_LOOP", [{"key": key} for key in keys])]


def states(ids: list[int]) -> list[tuple[str, str]]:
    return [(row(i).status, row(i).error_code) for i in ids]


def backend_pid() -> int:
    return query("SELECT pg_backend_pid()")


def sessions(pids) -> int:
    return query("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", [sorted(pids)])


def query(statement: str, params=None):
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchone()[0]


async def for_ever() -> None:
    await asyncio.Event().wait()


# At once, on one loop.


def test_as_many_run_at_once_as_an_async_handler_has_places(declare):
    all_here = asyncio.Barrier(ASYNC_AT_ONCE)

    @declare
    async def meet(task):
        await all_here.wait()

    ids = scheduled(*range(ASYNC_AT_ONCE))
    run_due()

    assert {row(i).status for i in ids} == {"SUCCESS"}


def test_no_more_run_at_once_than_concurrency_says(declare):
    inside, most, both_here = set(), [], asyncio.Barrier(2)

    @declare(concurrency=2)
    async def count(task):
        inside.add(task.id)
        most.append(len(inside))
        await both_here.wait()
        inside.discard(task.id)

    ids = scheduled(*range(6))
    run_due()

    assert (max(most), len(most)) == (2, 6)
    assert {row(i).status for i in ids} == {"SUCCESS"}


def test_the_loop_is_kept_between_batches_so_that_a_client_can_be(declare):
    loops = []

    @declare
    async def note_loop(task):
        loops.append((asyncio.get_running_loop(), threading.current_thread()))

    for key in "ab":
        scheduled(key)
        run_due()

    assert loops[0] == loops[1]
    assert loops[0][1] is not threading.main_thread()


def test_what_a_task_sets_in_its_context_is_not_seen_by_the_next(declare):
    variable, seen = contextvars.ContextVar("variable", default=None), []

    @declare(concurrency=1)
    async def set_variable(task):
        seen.append(variable.get())
        variable.set(task.key)

    scheduled("a", "b")
    run_due()

    assert seen == [None, None]


def test_a_task_that_a_handler_starts_beside_itself_can_not_end_the_loop(declare):
    async def leave():
        raise SystemExit("asked to exit")

    @declare
    async def start_another(task):
        await asyncio.create_task(leave())

    ids = scheduled("a", "b")
    run_due()
    schedule("T_ASYNC", "after")
    run_due()

    assert states(ids) == [("FAIL", "SystemExit")] * 2
    assert find("T_ASYNC", "after").status == "SUCCESS"


# Time-outs.


def test_a_task_over_its_time_is_cancelled_may_clean_up_and_fails(declare):
    cleaned = []

    @declare(timeout=3)  # the others need none of it
    async def sleep(task):
        if task.key == "slow":
            try:
                await for_ever()
            finally:
                await asyncio.to_thread(bool)
                cleaned.append(task.key)

    ids = scheduled("good", "slow", "also good")
    run_due()

    assert states(ids) == [("SUCCESS", ""), ("FAIL", "TIMEOUT"), ("SUCCESS", "")]
    assert row(ids[1]).error_msg == "timeout: ran longer than 3 s"
    assert cleaned == ["slow"]


def test_what_a_task_makes_of_its_cancellation_counts(declare):
    @declare(timeout=0.1)
    async def answer(task):
        try:
            await for_ever()
        except asyncio.CancelledError:
            if task.key == "retry":
                raise RetryableError("the service is slow", code="SLOW") from None

    ids = scheduled("retry", "enough")
    run_due()

    assert states(ids) == [("FAIL", "SLOW"), ("SUCCESS", "")]


def test_a_cancellation_of_its_own_making_is_a_failure_like_any_other(declare):
    @declare
    async def cancel_itself(task):
        asyncio.current_task().cancel()
        await for_ever()

    ids = scheduled("a")
    run_due()

    assert states(ids) == [("FAIL", "CancelledError")]


def test_a_task_that_swallows_its_cancellation_is_given_up_and_its_place_is_filled(declare, short_times):
    enough, ended = threading.Event(), threading.Event()

    @declare(timeout=3, concurrency=1)
    async def stay(task):
        while task.key == "a: stubborn" and not enough.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.to_thread(enough.wait)
        if task.key == "a: stubborn":
            ended.set()

    ids = scheduled("a: stubborn", "b: other")
    run_due()
    enough.set()

    assert states(ids) == [("FAIL", "TIMEOUT"), ("SUCCESS", "")]
    assert ended.wait(30)
    assert row(ids[0]).status == "FAIL"


def test_a_statement_over_the_timeout_holds_up_no_later_task_and_leaves_no_session(declare):
    pids = []

    def wait_for_lock():
        pids.append(backend_pid())
        with transaction.atomic():
            query("SELECT pg_advisory_xact_lock(%s)", [LOCK])

    @declare(timeout=3, concurrency=1)  # the second opens a session of its own meanwhile
    async def lock(task):
        if task.key == "a: blocked":
            # The second waits for the first in the same thread, and is cancelled without ever having begun.
            await asyncio.gather(sync_to_async(wait_for_lock)(), Effect.objects.acount())
        await Effect.objects.acount()

    query("SELECT pg_advisory_lock(%s)", [LOCK])
    try:
        ids = scheduled("a: blocked", "b: other")
        run_due()
        assert states(ids) == [("FAIL", "TIMEOUT"), ("SUCCESS", "")]
        assert sessions(pids) == 1  # it still waits for the lock
    finally:
        query("SELECT pg_advisory_unlock(%s)", [LOCK])
    wait_until(lambda: sessions(pids) == 0, describe="the end of the session that was given up")


# Shutdown.


def test_after_sigterm_nothing_is_begun_what_ends_in_time_counts_and_what_does_not_is_cancelled(
    declare, short_times, settings
):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHUTDOWN_SECONDS": 5.0}  # enough for the quick one

    @declare(concurrency=3)
    async def stop(task):
        match task.key:
            case "a: quick":
                await asyncio.to_thread(bool)
            case "b: slow":
                await for_ever()
            case "c: last":
                shutdown.request()

    ids = scheduled("a: quick", "b: slow", "c: last", "d: never begun")
    run_due()

    assert states(ids) == [("SUCCESS", ""), ("FAIL", "SHUTDOWN"), ("SUCCESS", ""), ("INIT", "")]
    assert row(ids[3]).retry_count == 0


def test_a_task_that_swallows_the_shutdown_is_left_to_its_lease(declare, short_times):
    enough = threading.Event()

    @declare
    async def stay(task):
        shutdown.request()
        while not enough.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.to_thread(enough.wait)

    ids = scheduled("a")
    try:
        run_due()
    finally:
        enough.set()

    assert states(ids) == [("RUNNING", "")]


# Connections.


def test_tasks_that_use_the_database_have_a_connection_for_each_place_and_leave_none_behind(declare):
    pids, all_here = [], asyncio.Barrier(3)

    @declare(concurrency=3)
    async def look(task):
        pids.append(await sync_to_async(backend_pid)())
        await all_here.wait()
        pids.append(await sync_to_async(backend_pid)())

    ids = scheduled(*range(12))
    run_due()

    assert {row(i).status for i in ids} == {"SUCCESS"}
    assert (len(pids), len(set(pids))) == (24, 3)
    wait_until(lambda: sessions(pids) == 0, describe="the end of their sessions")


@pytest.mark.parametrize("thread_sensitive", [True, False])
def test_a_connection_that_died_is_not_found_by_the_next_task(declare, thread_sensitive):
    threads = []

    def lose() -> None:
        threads.append(threading.get_ident())
        with suppress(DatabaseError):
            query("SELECT pg_terminate_backend(pg_backend_pid())")

    def use() -> bool:
        backend_pid()
        return threading.get_ident() in threads

    @declare(concurrency=1)
    async def work(task):
        if task.key == "a":
            await sync_to_async(lose, thread_sensitive=thread_sensitive)()
        else:
            while not await sync_to_async(use, thread_sensitive=thread_sensitive)():
                pass  # the pool chose another thread

    ids = scheduled("a", "b")
    run_due()

    assert states(ids) == [("SUCCESS", "")] * 2


def test_a_transaction_that_was_left_open_is_not_found_by_the_next_task(declare):
    pids = []

    def begin():
        transaction.atomic().__enter__()
        pids.append(backend_pid())
        Effect.objects.create(task_id=0, key="uncommitted", attempt=1, token="0" * 32)

    @declare(concurrency=1)
    async def leave_open(task):
        if task.key == "a":
            await sync_to_async(begin)()
        else:
            assert not await sync_to_async(lambda: connection.in_atomic_block)()
            await Effect.objects.acreate(task_id=0, key="committed", attempt=1, token="0" * 32)

    ids = scheduled("a", "b")
    run_due()

    assert states(ids) == [("SUCCESS", "")] * 2
    assert [effect.key for effect in Effect.objects.all()] == ["committed"]
    wait_until(lambda: sessions(pids) == 0, describe="the end of the session with the open transaction")


def test_a_handler_may_schedule_tasks_through_a_thread_and_is_told_so(declare):
    @declare
    async def scheduling(task):
        if task.key == "wrong":
            schedule("T_QUIET", task.key, delay=60)
        await sync_to_async(schedule)("T_QUIET", task.key, delay=60)

    ids = scheduled("right", "wrong")
    run_due()

    assert states(ids) == [("SUCCESS", ""), ("FAIL", "SynchronousOnlyOperation")]
    assert "sync_to_async" in row(ids[1]).error_msg
    assert find("T_QUIET", "right").due_at > timezone.now() + timedelta(seconds=30)


# In tests of handlers.


@pytest.mark.django_db
def test_in_a_test_case_an_async_handler_sees_and_writes_what_the_test_has_not_committed():
    assert connection.in_atomic_block
    Effect.objects.create(task_id=0, key="before", attempt=1, token="0" * 32)
    seen, loops = [], set()

    async def look(task):
        seen.append((await Effect.objects.aget(key="before")).key)
        loops.add(asyncio.get_running_loop())

    async def current_loop():
        return asyncio.get_running_loop()

    handler("T_LOOP", timeout=30)(look)
    try:
        for key in "abc":
            schedule("T_LOOP", key)
        schedule("T_ASYNC", "a")
        schedule("T_ASYNC_BATCH", "a")
        schedule("T_TWO_PHASE_ASYNC", "b")
        bad = schedule("T_ASYNC", "c", payload={"do": "retry", "after": 3600})

        assert testing.run_due() == 7
    finally:
        REGISTRY.discard("T_LOOP")

    assert seen == ["before"] * 3
    assert row(bad.task_id).status == "FAIL"
    assert sorted(Effect.objects.values_list("key", flat=True)) == ["a", "b", "before", "c"]
    assert connection.in_atomic_block
    assert async_to_sync(current_loop)() not in loops  # what the test itself does with asgiref goes on as before


@pytest.mark.django_db
def test_async_handlers_can_be_run_by_an_async_test():
    async def test():
        await sync_to_async(schedule)("T_ASYNC", "a")
        settled = await sync_to_async(testing.run_due)()
        return settled, await Effect.objects.acount()

    assert async_to_sync(test)() == (1, 1)


def test_with_real_commits_an_async_handler_leaves_no_session_behind():
    def connected():
        return query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")

    before = connected()
    schedule("T_ASYNC", "a")
    schedule("T_ASYNC_BATCH", "a", payload={"do": "move_itself"})
    assert testing.run_due() >= 1

    connections.close_all()
    wait_until(lambda: connected() <= before)  # the server ends a session some time after its client has left
