"""Races of three: several sides queue up behind a transaction that is held open, one after the other."""

import threading
from collections.abc import Callable

from django.db import connection, connections, transaction

from tests.support.overlap import Result
from tests.support.wait import wait_until


def contend(holder: Callable[[], object], *sides: Callable[[], object], commit: bool = True) -> list[Result]:
    """Run `holder` in a transaction held open, start each side once the one before it waits or is done, then let go.

    With locks taken in one order everywhere the sides end one after the other; else two of them meet in a deadlock.
    """
    held, release = threading.Event(), threading.Event()
    threads = [threading.Thread(target=_hold, args=(holder, held, release, commit))]
    threads[0].start()
    assert held.wait(20)
    results = [Result() for _ in sides]
    for side, result in zip(sides, results, strict=True):
        result.waited = _start(side, result, threads)
    release.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), "a side never ended"
    return results


def with_plans_of_a_large_table(side: Callable[[], object]) -> Callable[[], object]:
    """On a few rows the planner scans the table in physical order; on many it goes through the index, row by row."""

    def scheduled_so() -> object:
        with connection.cursor() as cursor:
            cursor.execute("SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off")
        return side()

    return scheduled_so


def _hold(holder: Callable, held: threading.Event, release: threading.Event, commit: bool) -> None:
    try:
        with transaction.atomic():
            holder()
            held.set()
            release.wait(20)
            transaction.set_rollback(not commit)
    finally:
        connections.close_all()


def _start(side: Callable, result: Result, threads: list[threading.Thread]) -> bool:
    """Start a side in a thread; whether it waits for somebody."""
    pids: list[int] = []

    def run() -> None:
        try:
            connection.ensure_connection()
            pids.append(connection.connection.info.backend_pid)
            result.value = side()
        except BaseException as error:
            result.error = error
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    threads.append(thread)
    wait_until(lambda: not thread.is_alive() or (pids and _is_blocked(pids[0])), describe="the side to wait or end")
    return thread.is_alive()


def _is_blocked(pid: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [pid])
        return cursor.fetchone()[0]
