"""What handlers log says by itself which task it is about, in every mode; and Sentry hears of their errors."""

import gzip
import json
import logging
from collections.abc import Iterator
from uuid import UUID

import pytest
import sentry_sdk
from sentry_sdk.integrations.dedupe import DedupeIntegration

from django_punctual import schedule
from tasks_app.core import running
from tasks_app.engine.worker.executor import run_batch
from tasks_app.engine.worker.interruption import over_shutdown, over_time
from tasks_app.engine.worker.outcomes import outcome_of
from tasks_app.logs import JsonFormatter
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.http_receiver import Receiver, http_receiver
from tests.support.marks import commits

pytestmark = commits

ONE_BY_ONE = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_EFFECT", "T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
TOGETHER = ["T_BATCH", "T_ASYNC_BATCH", "T_EFFECT_BATCH"]


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def lines(monkeypatch) -> Iterator[list[dict]]:
    """What the logger `shop` says, as lines of JSON."""
    monkeypatch.setattr(running, "_wanted", False)
    handler = _Lines()
    handler.setFormatter(JsonFormatter())
    logging.getLogger("shop").addHandler(handler)
    yield handler.lines
    logging.getLogger("shop").removeHandler(handler)


@pytest.mark.parametrize("task_type", ONE_BY_ONE)
def test_a_line_of_a_handler_says_which_task_it_is_about(lines, task_type):
    ids = {key: schedule(task_type, key, payload={"say": key}).task_id for key in "ab"}
    [batch] = claim_due()
    run_batch(UUID(batch.batch_no), guarded=False)
    logging.getLogger("shop").warning("outside")

    inside, outside = lines[:-1], lines[-1]
    assert {one["message"]: one["task"] for one in inside} == ids
    assert {(one["tenant"], one["type"], one["attempt"], one["batch"]) for one in inside} == {
        ("default", task_type, 1, str(batch.batch_no))
    }
    assert {one["worker"] for one in inside} == {outside["process"]}
    assert "task" not in outside
    assert "batch" not in outside


@pytest.mark.parametrize("task_type", TOGETHER)
def test_a_line_of_a_call_for_many_names_them_all(lines, task_type):
    ids = [schedule(task_type, key, payload={"say": key}).task_id for key in "ab"]
    run_due()

    assert [sorted(one["tasks"]) for one in lines] == [ids, ids]


def test_a_handler_that_fails_leaves_nothing_to_the_next(lines):
    schedule("T_QUIET", "a", payload={"do": "crash"})
    run_due()
    logging.getLogger("shop").warning("outside")

    assert "task" not in lines[-1]


def test_what_the_worker_says_itself_is_about_the_batch(lines, caplog):
    of_worker = logging.getLogger("tasks_app.engine.worker.batch_run")
    of_worker.addHandler(logging.getLogger("shop").handlers[-1])
    caplog.set_level(logging.INFO)
    schedule("T_QUIET", "a", payload={"do": "move_itself"})  # so it is no longer ours when it is settled
    run_due()
    of_worker.removeHandler(logging.getLogger("shop").handlers[-1])

    [line] = lines
    assert line["message"].startswith("task.moved_meanwhile")
    assert ("batch" in line, "task" in line) == (True, False)


# Sentry.


@pytest.fixture(scope="module")
def in_its_place() -> Iterator[Receiver]:
    with http_receiver() as there:
        yield there


@pytest.fixture
def sentry(monkeypatch, in_its_place) -> Iterator[Receiver]:
    """The real SDK, with a receiver in Sentry's place."""
    monkeypatch.setattr(running, "_wanted", False)
    in_its_place.got.clear()
    address = in_its_place.url.replace("http://", "http://key@").replace("/hook", "/1")
    sentry_sdk.init(address, default_integrations=False, integrations=[DedupeIntegration()])
    yield in_its_place
    sentry_sdk.get_client().close()
    sentry_sdk.init()


def sent(there: Receiver) -> list[dict]:
    """The events that it got."""
    sentry_sdk.flush(10)
    found = []
    for one in there.got:
        body = gzip.decompress(one.body) if one.headers.get("content-encoding") == "gzip" else one.body
        for kind, content in zip(*[iter(body.split(b"\n")[1:-1])] * 2, strict=True):
            if json.loads(kind)["type"] == "event":
                found.append(json.loads(content))
    return found


@pytest.mark.parametrize("task_type", ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_EFFECT", "T_TWO_PHASE", "T_BATCH"])
def test_sentry_hears_of_an_error_once_a_try_with_the_task(sentry, task_type):
    task_id = schedule(task_type, "a", payload={"do": "crash"}).task_id
    run_due()
    assert row(task_id).status == "FAIL"
    make_due(task_id)
    run_due()

    first, second = sent(sentry)
    assert [one["contexts"]["punctual"]["attempt"] for one in (first, second)] == [1, 2]
    assert (first["contexts"]["punctual"]["task"], first["transaction"]) == (task_id, task_type)
    assert first["tags"]["punctual.tenant"] == "default"
    [error] = first["exception"]["values"]
    assert (error["type"], error["stacktrace"]["frames"][-1]["function"]) == ("KeyError", "act")


@pytest.mark.parametrize("deed", ["retry", "skip", "snooze", "away"])
def test_sentry_does_not_hear_of_what_a_handler_expects(sentry, deed):
    schedule("T_QUIET", "a", payload={"do": deed, "until": "2090-01-01T00:00:00+00:00"})
    run_due()

    assert sent(sentry) == []


def test_sentry_hears_of_an_end_on_purpose_and_of_time_outs_but_not_of_shutdowns(sentry):
    schedule("T_QUIET", "a", payload={"do": "die"})
    run_due()

    assert [one["exception"]["values"][0]["type"] for one in sent(sentry)] == ["UnrecoverableError"]
    late = over_time(2)
    assert (outcome_of(late).error, outcome_of(over_shutdown(2)).error) == (late, None)


def test_sentry_is_not_flooded_by_one_bad_batch(sentry):
    for number in range(15):
        schedule("T_QUIET", number, payload={"do": "crash"})
    run_due()

    assert len(sent(sentry)) == 10
