"""Tasks with a real beat, a real broker and a real worker, also if these are killed."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from django_punctual import reschedule, schedule
from tasks_app.lifecycle.claim import LaneShare, claim
from tasks_app.models import Node, ScheduleTask, TaskAttempt, TaskLog, TaskProgress
from tests.support import project_celery
from tests.support.django_tasks import TASKS, background
from tests.support.engine import anybodys, row
from tests.support.http_receiver import Receiver, http_receiver
from tests.support.processes import wait_for
from tests.support.testapp.models import Effect
from tests.support.traces import tracing
from tests.support.wait import wait_until


def lines_of_log(task_id: int) -> list[str]:
    return [text for one in TaskLog.objects.filter(task_id=task_id) for _, _, text in one.lines]


def sent_spans(collector: Receiver, trace_id: int) -> list[str]:
    """The names of the spans of this trace that the collector got."""
    exports = [ExportTraceServiceRequest.FromString(one.body) for one in collector.got]
    spans = [span for one in exports for of in one.resource_spans for scope in of.scope_spans for span in scope.spans]
    return sorted(span.name for span in spans if int.from_bytes(span.trace_id) == trace_id)


@pytest.fixture
def collector() -> Iterator[Receiver]:
    with http_receiver() as there:
        yield there


def test_tasks_run_after_commit_at_their_time_until_they_succeed(stack, redis, collector):
    """Also: a task that is rescheduled while it runs is superseded, and notices; a task continues the trace of its
    caller; it can send with the project's own app; logs are JSON; tasks of Django's, plain and async, are imported by
    the worker. All in one fleet, since its start takes longest."""
    stack.beat()
    tracing_settings = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    worker = stack.worker(LOG_FORMAT="json", TEST_TASKS=json.dumps(TASKS), **tracing_settings)
    long = schedule("T_LONG", "moved", payload={"do": "until_cancelled", "progress": [0.25, "waiting"], "log": ["a"]})
    wait_until(lambda: TaskProgress.objects.filter(task=long.task_id, note="waiting"), describe=stack.logs)
    moved = reschedule("T_LONG", "moved", delay=0.2, payload={})
    at = timezone.now() + timedelta(seconds=1)
    with tracing() as traces, traces.request() as request, transaction.atomic():
        soon = schedule("T_PLAIN", "now", payload={"say": "here I am", "span": "own"})
    with transaction.atomic():
        later = schedule("T_PLAIN", "later", at=at)
        flaky = schedule("T_LONG", "flaky", payload={"do": "retry_until", "attempt": 3})
        sends = schedule("T_SENDS", "a", payload={"to": "anna"})
        runs = schedule("CELERY_TASK", "b", payload={"task": "project.own"})
    ids = [one.task_id for one in (soon, later, flaky, sends, runs)]
    with background() as tasks:
        background_results = [tasks.add.enqueue(2, b=3), tasks.add_later.enqueue(1), tasks.fail.enqueue("no money")]

        wait_for(stack)

        for result in background_results:
            result.refresh()
    added, added_later, failed = background_results
    assert (added.return_value, added_later.return_value) == (5, 1)
    assert (failed.status, failed.errors[0].exception_class) == ("FAILED", tasks.Declined)
    assert [len(one.worker_ids) for one in background_results] == [1, 1, 1]

    assert [row(one).status for one in ids] == ["SUCCESS"] * 5
    assert [row(one).retry_count for one in ids] == [0, 0, 2, 0, 0]
    assert row(later.task_id).start_time >= at
    assert set(Effect.objects.values_list("task_id", flat=True)) >= {soon.task_id, later.task_id}
    assert redis.llen(project_celery.QUEUE) == 1
    assert b'"task": "project.mail"' in redis.lindex(project_celery.QUEUE, 0)
    assert (moved.outcome, row(moved.task_id).status) == ("REPLACED", "SUCCESS")
    assert (row(long.task_id).status, row(long.task_id).error_code) == ("CANCELLED", "SUPERSEDED")
    wait_until(lambda: "It had got to: 25 %, waiting" in lines_of_log(long.task_id), describe=stack.logs)
    assert not TaskProgress.objects.exists()
    assert re.search(r"transport: +punctual(\+socket)?://", worker.text())
    trace_id = request.get_span_context().trace_id
    names = ["own", "run T_PLAIN", "settle T_PLAIN", "wait T_PLAIN"]
    wait_until(lambda: sent_spans(collector, trace_id) == names, describe=lambda: sent_spans(collector, trace_id))
    lines = [json.loads(line) for line in worker.text().splitlines() if line.startswith("{")]
    [logged] = [line for line in lines if line["message"] == "here I am"]
    assert (logged["task"], logged["trace"]) == (soon.task_id, f"{trace_id:032x}")
    assert any(line["message"].startswith("worker.ready") for line in lines)


def test_tasks_of_a_dead_beat_or_worker_run_again(stack):
    """A task whose message was lost uses no retry, a task that ran does. A beat that stops removes its node."""
    lost = schedule("T_PLAIN", "a")
    claim([LaneShare("default", 10, 10)], {}, "killed before it published", anybodys())
    assert row(lost.task_id).status == "RUNNING"
    first = stack.worker(concurrency=1)
    beat = stack.beat()
    wait_for(stack)
    assert (row(lost.task_id).status, row(lost.task_id).retry_count) == ("SUCCESS", 0)

    task = schedule("T_LONG", "a", payload={"do": "sleep", "seconds": 60, "log": ["begun"]})
    wait_until(lambda: lines_of_log(task.task_id), describe=stack.logs)

    first.kill()
    ScheduleTask.objects.filter(id=task.task_id).update(payload={})
    stack.worker(concurrency=1)
    wait_for(stack)

    assert (row(task.task_id).status, row(task.task_id).retry_count) == ("SUCCESS", 1)
    assert list(TaskAttempt.objects.values_list("error_code", flat=True)) == ["LOST"]
    assert lines_of_log(task.task_id) == ["begun"]
    assert beat.terminate() == 0
    assert not Node.objects.filter(kind=Node.BEAT).exists()
