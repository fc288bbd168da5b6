"""Races of three: several sides queue up behind a transaction that is held open, one after the other."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress

from django.db import DatabaseError, connection, transaction

from tests.support.overlap import Result
from tests.support.sides import sides as threads_of
from tests.support.wait import wait_until


def contend(holder: Callable[[], object], *sides: Callable[[], object], commit: bool = True) -> list[Result]:
    """Run `holder` in a transaction held open, start each side once the one before it waits or is done, then let go.

    With locks taken in one order everywhere the sides end one after the other; else two of them meet in a deadlock.
    """
    held, release = threading.Event(), threading.Event()
    results = [Result() for _ in sides]
    with threads_of(1 + len(sides)) as begin:
        ends = [begin(0, lambda: _hold(holder, held, release, commit))]
        assert held.wait(60)
        for place, (side, result) in enumerate(zip(sides, results, strict=True), 1):
            result.waited = _start(side, result, lambda call, place=place: begin(place, call), ends)
        release.set()
        assert not wait(ends, timeout=240).not_done, "a side never ended"
        ends[0].result()  # what holds must not fail unseen
    return results


def with_plans_of_a_large_table(side: Callable[[], object]) -> Callable[[], object]:
    """On a few rows the planner scans the table in physical order; on many it goes through the index, row by row."""

    def scheduled_so() -> object:
        with connection.cursor() as cursor:
            cursor.execute(
                "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; DISCARD PLANS"
            )
        try:
            return side()
        finally:
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute("RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin; DISCARD PLANS")

    return scheduled_so


def _hold(holder: Callable, held: threading.Event, release: threading.Event, commit: bool) -> None:
    with transaction.atomic():
        holder()
        held.set()
        release.wait(60)
        transaction.set_rollback(not commit)


def _start(side: Callable, result: Result, begin: Callable[[Callable], Future], ends: list[Future]) -> bool:
    """Start a side in a thread; whether it waits for somebody."""
    pids: list[int] = []

    def run() -> None:
        try:
            connection.ensure_connection()
            pids.append(connection.connection.info.backend_pid)
            result.value = side()
        except BaseException as error:
            result.error = error

    end = begin(run)
    ends.append(end)
    wait_until(lambda: end.done() or (pids and _is_blocked(pids[0])), describe="the side to wait or end")
    return not end.done()


def _is_blocked(pid: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [pid])
        return cursor.fetchone()[0]
