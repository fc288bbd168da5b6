"""Cuts the outbox into windows: each has what was committed between two looks, so it is complete when it is recorded.

Any number of beats may do it at the same time. A window's number is taken once; who comes second looks again.
"""

import json
from typing import Any, NamedTuple

from tasks_app.database import atomic, is_in_transaction
from tasks_app.sql import execute, run

MOST_TOPICS = 200  # that are noted with a window; with more, everybody reads it


class _Gathered(NamedTuple):
    """A row of gather_window: the newest window, and what was committed since."""

    snapshot: str
    no: int | None
    after: str | None
    floor_id: int | None
    min_id: int | None
    max_id: int | None
    min_at: object
    max_at: object
    events: int | None
    tenants: dict[str, Any] | None
    topics: list[Any] | None


class Sequencer:
    def __init__(self) -> None:
        self._system: int | None = None  # asked once for each connection
        # The last window of ours, and what its events are about.
        self.recorded: tuple[int, list[Any] | None] = (0, None)

    def run_once(self) -> int:
        """Record what was committed since the last time; returns the number of the newest window, or 0."""
        if is_in_transaction():
            raise RuntimeError("the sequencer ran in a transaction; its snapshot must be older than what it writes")
        try:
            return self._look()
        except Exception:
            self._system = None
            raise

    def _look(self) -> int:
        if self._system is None:
            ((system, noted),) = run("newest_window", {})
            if noted is not None and noted != system:
                self._begin_anew(system)
            self._system = system
        seen = _Gathered(*run("gather_window", {})[0])
        if seen.no is None:
            return self._record_first()
        if seen.events is None:
            return seen.no
        window = {
            "no": seen.no + 1,
            "before": seen.after,
            "after": seen.snapshot,
            "floor_id": seen.floor_id,
            "min_id": seen.min_id,
            "max_id": seen.max_id,
            "min_at": seen.min_at,
            "max_at": seen.max_at,
            "count": seen.events,
            "tenants": json.dumps(seen.tenants),
            "topics": None if seen.topics is None or len(seen.topics) > MOST_TOPICS else json.dumps(seen.topics),
        }
        return self._record(window)

    def _record(self, window: dict[str, Any]) -> int:
        # Somebody else may have been faster. Then theirs is the window of this number, and what it lacks comes next.
        if run("record_window", window | {"system": self._system}):
            topics = window["topics"]
            self.recorded = (window["no"], None if topics is None else json.loads(topics))
        no: int = window["no"]
        return no

    def _record_first(self) -> int:
        """The first of all: whatever there is, by its ids. What is under way now comes with the next."""
        snapshot, *rows = run("gather_all", {})[0]
        if rows[0] is None:
            return 0
        return self._record(_whole(1, snapshot, rows, floor_id=0))

    def _begin_anew(self, system: int) -> None:
        """The rows come from another server. While nobody writes, all that there are become one window, by their ids;
        from then on this server's transactions count."""
        with atomic():
            execute("LOCK TABLE punctual_outbox, punctual_outbox_window IN SHARE ROW EXCLUSIVE MODE")
            ((_, noted),) = run("newest_window", {})
            if noted is None or noted == system:
                return  # another beat was faster
            snapshot, *rows = run("gather_all", {})[0]  # before anything is written, as always
            ((last,),) = run("forget_windows", {})
            if rows[0] is None:
                now = run("clock", {})[0][0]
                rows = [0, 0, now, now, 0, {}]
            run("record_window", _whole(last + 1, snapshot, rows, floor_id=rows[1]) | {"system": system})


def _whole(no: int, snapshot: str, rows: list[Any], floor_id: int) -> dict[str, Any]:
    min_id, max_id, min_at, max_at, count, tenants = rows
    return {
        "no": no,
        "before": None,
        "after": snapshot,
        "floor_id": floor_id,
        "min_id": min_id,
        "max_id": max_id,
        "min_at": min_at,
        "max_at": max_at,
        "count": count,
        "tenants": json.dumps(tenants),
        "topics": None,
    }
