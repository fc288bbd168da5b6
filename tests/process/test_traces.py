"""One trace from a request to its last effect, over a real web process, beat and worker, and the lines they log."""

import json

from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.caller import Caller
from tests.support.collector import collector
from tests.support.jobs import make
from tests.support.receiver import receiver
from tests.support.stack import Process
from tests.support.wait import wait_until

TRACE, SPAN = 16 * "a1", 8 * "b2"  # of whoever calls
OTHER = 16 * "c3"


def lines(process: Process, logger: str) -> list[dict]:
    """What was logged by this logger; a banner of Celery's is no line."""
    found = [json.loads(line) for line in process.text().splitlines() if line.startswith("{")]
    return [one for one in found if one["logger"] == logger]


def test_one_trace_leads_from_a_request_over_a_retry_to_the_callback_and_every_line_names_it(stack):
    with collector() as traces, receiver() as there:
        env = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": traces.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        env |= {"PUNCTUAL_TRACE_SHARE": "0", "LOG_FORMAT": "json", "OUTGOING_ALLOW": "127.0.0.1"}
        stack.web(**env, OTEL_SERVICE_NAME="web")
        stack.beat(**env, OTEL_SERVICE_NAME="engine")
        worker = stack.worker(concurrency=1, **env, OTEL_SERVICE_NAME="engine")
        caller = Caller(stack.url)

        tell = {"task_type": "HTTP_CALLBACK", "key": "told", "payload": {"url": there.url, "sign": ""}}
        payload = {"do": "retry_until", "attempt": 2, "after": 0, "span": "own", "say": "here I am", "defer": [tell]}
        asked = {"task_type": "T_QUIET", "key": "a", "payload": payload}
        assert caller.post("/tasks", asked, traceparent=f"00-{TRACE}-{SPAN}-01").status == 201
        wait_until(lambda: traces.named("settle HTTP_CALLBACK"), 60, describe=stack.logs)
        job = make(task_type="T_QUIET", tenant="acme", every=86_400, payload={"say": "for a job"})
        run = f"/jobs/{job.id}/trigger"
        assert caller.post(run, {}, traceparent=f"00-{OTHER}-{SPAN}-01", Idempotency_Key="once").status == 201
        wait_until(lambda: traces.named("settle T_QUIET", tasks=1)[2:], 60, describe=stack.logs)

        # The request, both tries with what the handler did in them, and the call that was handed on.
        first, second = (traces.one("run T_QUIET", task=task_id("a"), attempt=number) for number in (1, 2))
        called = traces.one("run HTTP_CALLBACK")
        assert {one.trace for one in traces.spans if one.trace != OTHER} == {TRACE}
        request = "POST /api/v1/tasks"
        assert traces.one(request).parent == SPAN
        way = [request, "schedule T_QUIET", "wait T_QUIET", "run T_QUIET"]
        assert traces.way_to(first) == traces.way_to(second) == way
        way += ["wait HTTP_CALLBACK", called.name]
        assert traces.way_to(called) == way
        assert traces.way_to(traces.one("settle HTTP_CALLBACK")) == [*way, "settle HTTP_CALLBACK"]
        assert (first.failed, second.failed, second.links) == (True, False, (first.id,))
        assert {one.parent for one in traces.named("own")} == {first.id, second.id}
        assert all(one.events == ("claimed",) for one in traces.spans if one.name.startswith("wait "))
        assert {one.service for one in traces.spans if one.name.startswith(("POST", "schedule", "trigger"))} == {"web"}
        assert {one.service for one in traces.spans if one.name.startswith(("wait", "run", "settle"))} == {"engine"}
        [call] = there.calls
        assert call.headers["traceparent"] == f"00-{TRACE}-{called.id}-01"

        # And whoever reads the worker's log finds both the task and the trace.
        told = {(one["message"], one["attempt"]): one for one in lines(worker, "shop")}
        assert told.keys() == {("here I am", 1), ("here I am", 2), ("for a job", 1)}
        line, of_job = told["here I am", 2], told["for a job", 1]
        batch = TaskBatch.objects.get(batch_no=line["batch"])
        assert (line["tenant"], line["type"], line["task"]) == ("acme", "T_QUIET", task_id("a"))
        assert line["task"] in batch.ids and line["worker"] == batch.worker
        assert (line["trace"], line["span"]) == (TRACE, second.id)
        assert (of_job["job"], of_job["trace"]) == (job.id, OTHER)


def task_id(key: str) -> int:
    return ScheduleTask.objects.get(task_type="T_QUIET", biz_key=key).id
