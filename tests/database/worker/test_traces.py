"""One trace from the call of schedule() to the last effect, for the tasks that are traced; the others pay nothing."""

import sys
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import transaction
from opentelemetry import trace
from opentelemetry.trace import StatusCode

from articles_app.lifecycle import change_publish_time
from django_punctual import ensure, handler, reschedule, schedule, schedule_many
from tasks_app import outgoing, sql
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine import tracing as engine_tracing
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.canary import CANARY
from tasks_app.engine.operations.jobs import trigger_job
from tasks_app.engine.operations.operate import retry_tasks
from tasks_app.engine.worker.spans import _drawn
from tasks_app.lifecycle.traces import Trace, forget_traces, keep_traces
from tasks_app.models import ScheduleTask, TaskTrace
from tests.support.api import Api
from tests.support.articles import TUESDAY, approved, publish_task
from tests.support.engine import claim_due, make_due, run_due
from tests.support.graphs import family, job_named, run_all
from tests.support.jobs import make
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.receiver import HERE, receiver
from tests.support.traces import Traces, linked, not_sampled, parent_of, tracing

pytestmark = commits

ONE_BY_ONE = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_EFFECT"]
TWO_PHASES = ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
TOGETHER = ["T_BATCH", "T_ASYNC_BATCH", "T_EFFECT_BATCH"]


@pytest.fixture
def traces(settings) -> Iterator[Traces]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"TRACE_SHARE": 0}
    with tracing() as found:
        yield found


def share(settings, value: float) -> None:
    settings.PUNCTUAL = settings.PUNCTUAL | {"TRACE_SHARE": value}


def test_a_row_that_is_changed_with_its_task_is_traced_as_well(traces):
    article = approved()

    with traces.request() as request:
        change_publish_time(article, TUESDAY, actor="bob")

    assert parent_of(traces.one("reschedule")) == request.get_span_context().span_id
    assert publish_task(article).due_at == TUESDAY


@pytest.mark.parametrize("task_type", [*ONE_BY_ONE, *TWO_PHASES, *TOGETHER])
def test_a_task_goes_on_in_the_trace_of_the_request_that_scheduled_it(traces, task_type):
    with traces.request() as request:
        task_id = schedule(task_type, "a", payload={"span": "own"}).task_id
    schedule(task_type, "b")
    run_due()

    assert traces.ids == {request.get_span_context().trace_id}
    scheduled, wait, run, own = (traces.one(name) for name in ("schedule", "wait", "run", "own"))
    last = traces.one("apply") if task_type in TWO_PHASES else run
    settle = traces.one("settle")
    assert [parent_of(one) for one in (scheduled, wait, run, own, last, settle)] == [
        request.get_span_context().span_id,
        scheduled.context.span_id,
        wait.context.span_id,
        run.context.span_id,
        wait.context.span_id,
        last.context.span_id,
    ]
    assert wait.start_time <= wait.events[0].timestamp <= wait.end_time <= run.start_time <= run.end_time
    assert run.attributes["punctual.task"] == scheduled.attributes["punctual.task"] == task_id
    assert (run.attributes["punctual.attempt"], run.attributes["punctual.tenant"]) == (1, "default")
    assert not TaskTrace.objects.exists()


def test_a_call_of_the_api_goes_on_in_the_trace_of_whoever_calls(traces, settings):
    settings.MIDDLEWARE = ["scheduler_project.tracing.request_middleware", *settings.MIDDLEWARE]
    caller = f"00-{7:032x}-{9:016x}-01"

    assert Api().post("/tasks", {"task_type": "T_QUIET", "key": "a"}, traceparent=caller).status == 201
    run_due()

    assert traces.ids == {7}
    request, scheduled = traces.one("POST"), traces.one("schedule")
    assert (parent_of(request), parent_of(scheduled)) == (9, request.context.span_id)
    assert (request.name, request.attributes["http.response.status_code"]) == ("POST /api/v1/tasks", 201)
    assert traces.one("run").context.trace_id == 7


@pytest.mark.parametrize("task_type", TOGETHER)
def test_one_call_for_several_traced_tasks_is_in_each_of_their_traces(traces, task_type):
    for key in "ab":
        with traces.request():
            schedule(task_type, key, payload={"span": f"of_{key}"})
    run_due()

    first, second = traces.named("run")
    assert first.context.trace_id != second.context.trace_id
    assert linked(second) == [first.context.span_id]
    assert {parent_of(traces.one(name)) for name in ("of_a", "of_b")} == {first.context.span_id}
    assert linked(traces.one("settle")) == [second.context.span_id]


@pytest.mark.parametrize("task_type", ONE_BY_ONE)
def test_the_next_task_of_a_batch_is_not_in_the_trace_of_the_one_before(traces, task_type):
    with traces.request():
        schedule(task_type, "a", payload={"do": "retry"})
    schedule(task_type, "b", payload={"span": "own"})
    run_due()

    assert parent_of(traces.one("own")) is None


def test_a_retry_is_in_the_same_trace_and_names_the_try_before(traces):
    with traces.request() as request:
        task_id = schedule("T_PLAIN", "a", payload={"do": "retry_until", "attempt": 3}).task_id
    for _ in range(3):
        make_due(task_id)
        run_due()

    first, second, third = traces.named("run")
    assert traces.ids == {request.get_span_context().trace_id}
    assert [one.attributes["punctual.attempt"] for one in (first, second, third)] == [1, 2, 3]
    assert [linked(one) for one in (first, second, third)] == [[], [first.context.span_id], [second.context.span_id]]
    assert [one.status.status_code for one in (first, second, third)] == [
        StatusCode.ERROR,
        StatusCode.ERROR,
        StatusCode.UNSET,
    ]
    assert first.events[0].attributes["exception.message"] == "not yet the right attempt"
    assert not TaskTrace.objects.exists()


@pytest.mark.parametrize(("deed", "outcome"), [("snooze", "Snooze"), ("skip", "Skip"), ("away", "Away")])
def test_what_a_handler_says_on_purpose_is_no_error(traces, deed, outcome):
    with traces.request():
        schedule("T_QUIET", "a", payload={"do": deed, "until": "2090-01-01T00:00:00+00:00"})
    run_due()

    run = traces.one("run")
    assert (run.status.status_code, run.attributes["punctual.outcome"]) == (StatusCode.UNSET, outcome)
    assert TaskTrace.objects.exists() is (deed != "skip")


def test_a_run_that_is_given_up_on_is_ended_in_its_place(traces):
    over = threading.Event()

    @handler("T_GIVEN_UP", timeout=0.1, concurrency=2)
    def wait_for_the_end(task):
        over.wait(60)

    try:
        with traces.request():
            schedule("T_GIVEN_UP", "a")
        run_due()
    finally:
        over.set()
        REGISTRY.discard("T_GIVEN_UP")

    run = traces.one("run")
    assert (run.status.status_code, run.status.description) == (StatusCode.ERROR, "TIMEOUT")


def test_nothing_is_kept_of_a_request_that_is_not_sampled(traces):
    with not_sampled():
        schedule("T_QUIET", "a")
    schedule("T_QUIET", "b")
    run_due()

    assert (traces.spans, TaskTrace.objects.count()) == ([], 0)
    assert set(ScheduleTask.objects.values_list("status", flat=True)) == {"SUCCESS"}


def test_a_worker_that_traces_asks_once_a_batch_and_another_not_at_all(django_assert_num_queries, traces, monkeypatch):
    schedule_many("T_QUIET", [{"key": key} for key in "abc"])
    with django_assert_num_queries(5):  # of a test: types and claim; start, traces and settle
        run_due()

    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    schedule_many("T_QUIET", [{"key": key} for key in "def"])
    with django_assert_num_queries(4):
        run_due()


def test_a_share_of_what_nobody_traces_begins_a_trace_and_goes_on_in_it(traces, settings):
    share(settings, 1)
    task_id = schedule("T_QUIET", "a", payload={"do": "retry_until", "attempt": 2}).task_id
    run_due()
    make_due(task_id)
    run_due()

    (wait, again), (first, second) = traces.named("wait"), traces.named("run")
    assert len(traces.ids) == 1
    assert (parent_of(wait), parent_of(again)) == (None, wait.context.span_id)
    assert linked(second) == [first.context.span_id]
    assert not TaskTrace.objects.exists()


def test_a_rolling_task_begins_a_trace_of_its_own_with_each_round(traces, settings):
    with traces.request():
        task_id = schedule("T_QUIET", "a", repeat_after=timedelta(hours=1)).task_id
    run_due()
    share(settings, 1)
    make_due(task_id)
    run_due()

    first, second = traces.named("run")
    assert first.context.trace_id != second.context.trace_id


def test_each_task_has_the_same_chance_to_be_traced():
    tasks = list(range(1_000))
    drawn = [one for _ in range(200) for one in _drawn(tasks, 0.1)]

    assert abs(len(drawn) - 20_000) < 1_000  # seven standard deviations
    assert abs(sum(drawn) / len(drawn) - 500) < 20
    assert (_drawn(tasks, 0), _drawn(tasks, 1)) == ([], tasks)


def test_a_deferred_effect_and_what_a_handler_schedules_are_in_the_trace_of_the_run(traces):
    with traces.request() as request:
        schedule("T_QUIET", "a", payload={"defer": [{"task_type": "T_QUIET", "key": "later"}]})
        schedule("T_EFFECT", "b", payload={"do": "move_itself"})
    run_due()
    run_due()

    assert traces.ids == {request.get_span_context().trace_id}
    first, child = (one for one in traces.named("run") if one.attributes["punctual.type"] == "T_QUIET")
    waits = {one.context.span_id: one for one in traces.named("wait")}
    assert parent_of(waits[parent_of(child)]) == first.context.span_id
    moved = next(one for one in traces.named("ensure"))
    assert parent_of(moved) in {one.context.span_id for one in traces.named("run")}


def test_the_jobs_of_a_graph_are_in_the_trace_of_its_root(traces):
    dies, whatever_comes = {"payload": {"do": "die"}}, {"when": "all_done"}
    family(left=["root"], right=["root"], last=["left", "right"], options={"left": dies, "last": whatever_comes})
    with traces.request() as request:
        trigger_job(job_named("root").id, "now", operator())
    assert len(run_all()) == 4

    assert traces.ids == {request.get_span_context().trace_id}
    runs = {one.attributes["punctual.job"]: one.context.span_id for one in traces.named("run")}
    waits = {one.context.span_id: parent_of(one) for one in traces.named("wait")}
    parents = {one.attributes["punctual.job"]: waits[parent_of(one)] for one in traces.named("run")}
    root, left, right, last = (job_named(name).id for name in ("root", "left", "right", "last"))
    assert (parents[left], parents[right]) == (runs[root], runs[root])
    assert parents[last] in (runs[left], runs[right])


def test_a_callback_names_its_run_to_the_receiver(traces, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    with receiver() as there:
        with traces.request() as request:
            schedule("HTTP_CALLBACK", "a", payload={"url": there.url, "sign": ""})
        schedule("HTTP_CALLBACK", "b", payload={"url": there.url, "sign": ""})
        run_due()
        outgoing.client._client("").close()

    told = {call.headers["punctual-key"]: call.headers.get("traceparent") for call in there.calls}
    run = traces.one("run").context
    assert run.trace_id == request.get_span_context().trace_id
    assert told == {"a": f"00-{run.trace_id:032x}-{run.span_id:016x}-{int(run.trace_flags):02x}", "b": None}


def test_whoever_gives_a_task_another_time_takes_it_into_its_trace(traces):
    with traces.request():
        schedule("T_QUIET", "a", delay=60)
    with traces.request() as second:
        task_id = reschedule("T_QUIET", "a", delay=0).task_id
    run_due()

    assert traces.one("run").context.trace_id == second.get_span_context().trace_id
    assert traces.one("run").attributes["punctual.task"] == task_id


def test_one_that_runs_and_is_replaced_does_not_take_the_trace_of_the_next(traces):
    with traces.request():
        schedule("T_QUIET", "a")
    claim_due()
    with traces.request() as second:
        task_id = ensure("T_QUIET", "a", delay=0).task_id
    run_due()

    assert traces.one("run").context.trace_id == second.get_span_context().trace_id
    assert traces.one("run").attributes["punctual.task"] == task_id


def test_what_is_over_forgets_its_own_trace_and_no_other():
    old, new = (Trace(7, f"00-{number:032x}-{number:016x}-01") for number in (1, 2))
    keep_traces([new])

    forget_traces([old])
    assert TaskTrace.objects.get().traceparent == new.traceparent

    forget_traces([new])
    assert not TaskTrace.objects.exists()


def test_a_job_that_is_triggered_and_a_task_that_is_retried_by_hand_are_in_the_trace_of_that(traces):
    job = make(task_type="T_QUIET")
    with traces.request() as first:
        trigger_job(job.id, "now", operator())
    run_due()
    assert traces.one("run").context.trace_id == first.get_span_context().trace_id
    assert traces.one("run").attributes["punctual.job"] == job.id

    task_id = schedule("T_QUIET", "a", payload={"do": "die"}).task_id
    run_due()
    traces.clear()
    with traces.request() as second:
        retry_tasks([task_id], operator())
    run_due()
    assert traces.one("run").context.trace_id == second.get_span_context().trace_id


def test_of_many_that_one_call_schedules_only_so_many_are_traced(traces, monkeypatch):
    monkeypatch.setattr(engine_tracing, "MOST_OF_ONE_CALL", 2)
    with traces.request():
        schedule_many("T_QUIET", [{"key": key} for key in "abc"])

    assert TaskTrace.objects.count() == 2
    assert traces.one("schedule").attributes["punctual.tasks"] == 3


def test_what_came_with_a_trace_goes_on_with_it(traces):
    state = trace.TraceState([("vendor", "42")])
    sent = trace.SpanContext(1, 2, is_remote=True, trace_flags=trace.TraceFlags(1), trace_state=state)
    with trace.use_span(trace.NonRecordingSpan(sent)):
        schedule("T_QUIET", "a")
    run_due()

    assert traces.one("run").context.trace_state == state


def test_the_traces_of_what_is_gone_are_pruned(traces):
    with traces.request():
        live = schedule("T_QUIET", "a", delay=60).task_id
    keep_traces([Trace(10**12, f"00-{1:032x}-{1:016x}-01")])

    assert prune().traces == 1
    assert TaskTrace.objects.get().task == live


def test_a_trace_is_written_in_the_transaction_that_makes_its_task_due(traces):
    """Else a worker that is quick would find the task without it."""
    with traces.request():
        schedule("T_QUIET", "a", payload={"defer": [{"task_type": "T_QUIET", "key": "later", "delay": 60}]})
        assert written_together() == [True]
    run_due()
    assert written_together() == [True]  # what was deferred; the other is over


def written_together() -> list[bool]:
    found = sql.execute("SELECT t.xmin = r.xmin FROM punctual_trace r LEFT JOIN punctual_task t ON t.id = r.task")
    return [one for (one,) in found]


def test_a_canary_is_not_traced_by_chance(traces, settings):
    share(settings, 1)
    schedule(CANARY, "a")
    run_due()

    assert traces.spans == []


def test_a_caller_that_rolls_back_leaves_no_trace_behind(traces):
    with traces.request(), transaction.atomic():
        schedule("T_QUIET", "a")
        transaction.set_rollback(True)

    assert not TaskTrace.objects.exists()
