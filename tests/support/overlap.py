"""Races by construction: the first transaction is held open while the second runs into it."""

import threading
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass

from django.db import connection, transaction

from tests.support.sides import sides
from tests.support.wait import wait_until


@dataclass
class Result:
    value: object = None
    error: BaseException | None = None
    waited: bool = False  # the second was seen waiting for a lock of the first


def overlap(
    first: Callable[[], object],
    second: Callable[[], object],
    *,
    commit: bool = True,
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple:
    """Run `first` in a transaction held open, start `second`, wait until it is blocked or done, then commit.

    Returns both values; an exception of either is raised. `commit=False` rolls the first one back. `meanwhile` runs
    before that, in a transaction of its own.
    """
    one, two = overlap_results(first, second, commit=commit, meanwhile=meanwhile)
    for result in (one, two):
        if result.error is not None:
            raise result.error
    return one.value, two.value


def overlap_results(first, second, *, commit: bool = True, meanwhile=lambda: None) -> tuple[Result, Result]:
    one, two = Result(), Result()
    first_done, release = threading.Event(), threading.Event()
    pids: dict[str, int] = {}

    def run_first() -> None:
        try:
            with transaction.atomic():
                one.value = first()
                pids["first"] = _backend_pid()
                first_done.set()
                release.wait(60)
                if not commit:
                    transaction.set_rollback(True)
        except BaseException as error:
            one.error = error
        finally:
            first_done.set()

    def run_second() -> None:
        try:
            pids["second"] = _backend_pid()
            two.value = second()
        except BaseException as error:
            two.error = error

    with sides(2) as begin:
        ends = [begin(0, run_first)]
        assert first_done.wait(60)
        ends.append(begin(1, run_second))
        wait_until(
            lambda: ends[1].done() or _is_blocked(pids.get("second")),
            describe=lambda: f"second is neither blocked nor done: {pids}",
        )
        two.waited = not ends[1].done()
        try:
            meanwhile()
        finally:
            release.set()
        assert not wait(ends, timeout=240).not_done, "a side of the overlap never ended"
    return one, two


def _backend_pid() -> int:
    connection.ensure_connection()
    return connection.connection.info.backend_pid


def _is_blocked(pid: int | None) -> bool:
    if pid is None:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [pid])
        return cursor.fetchone()[0]
