"""The traces that tasks belong to, beside their rows: a hint, written for the few that are traced."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from tasks_app.sql import array, run, text_array


class Trace(NamedTuple):
    """What is kept of a task that is traced, in the form of W3C Trace Context."""

    task: int
    traceparent: str  # its runs are children of this span
    tracestate: str | None = None
    last_run: str | None = None  # the span of the try before


class Traced(NamedTuple):
    """A batch as a worker that traces finds it."""

    claimed: float  # epoch seconds
    traces: dict[int, Trace]


def keep_traces(traces: Sequence[Trace]) -> None:
    """In the transaction in which these tasks are scheduled or settled."""
    if not traces:
        return
    params = {
        "tasks": array(one.task for one in traces),
        "parents": text_array(one.traceparent for one in traces),
        "states": [one.tracestate for one in traces],
        "lasts": [one.last_run for one in traces],
    }
    run("keep_traces", params)


def read_traces(batch_no: UUID) -> Traced | None:
    """Of all that was claimed with this batch; None: there is no such batch any more."""
    rows = run("read_traces", {"batch_no": batch_no})
    return Traced(rows[0][0], {row[1]: Trace(*row[1:]) for row in rows if row[1] is not None}) if rows else None


def forget_traces(traces: Sequence[Trace]) -> None:
    """These tasks are over; unless somebody has given them another trace."""
    if traces:
        parents = text_array(one.traceparent for one in traces)
        run("forget_traces", {"tasks": array(one.task for one in traces), "parents": parents})


def hand_on_traces(runs: Sequence[Trace]) -> None:
    """What these tasks have deferred goes on in the trace of the run; `traceparent` is that of the run."""
    if runs:
        run("hand_on_traces", _runs(runs))


def trace_children(runs: Sequence[Trace]) -> None:
    """The same for what waits for these tasks in a graph."""
    if runs:
        run("trace_children", _runs(runs))


def _runs(runs: Sequence[Trace]) -> dict[str, object]:
    params = {"tasks": array(one.task for one in runs), "runs": text_array(one.traceparent for one in runs)}
    return params | {"states": [one.tracestate for one in runs]}
