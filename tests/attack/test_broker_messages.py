"""Whoever can write to Redis can put anything into a lane's queue, or something else in its place.

Exactly our own message is delivered, made anew from its batch number. Everything else is dropped with a log line, takes
no slot of the worker, and nothing of it is decompressed, imported or interpreted.
"""

import base64
import copy
import json
import pathlib
import time
import zlib
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kombu import Consumer

from chaos.faults import QUEUE_PREFIX
from chaos.rubbish import RUBBISH, forged
from django_punctual import schedule
from scheduler_project.celery import app
from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.engine import nodes, queues
from tasks_app.engine.beat import publisher
from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.listener import Listener
from tasks_app.engine.queues import depths
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.worker import transport
from tasks_app.lifecycle.claim import ClaimedBatch
from tasks_app.models import TaskBatch
from tests.conftest import redis_client
from tests.support.engine import anybodys, row
from tests.support.marks import commits
from tests.support.processes import wait_for
from tests.support.scale import FULL
from tests.support.wait import wait_until

pytestmark = commits

LANE = "low"
KEY = QUEUE_PREFIX + LANE
GOOD_LANES = [lane for lane in LANES if lane != "backfill"]


def publish(*lanes: str) -> list[str]:
    """One message for each lane, as a beat writes it; their batch numbers."""
    batches = [ClaimedBatch(str(uuid4()), lane, "T_QUIET", 1) for lane in lanes]
    publisher.publish(batches)
    return [batch.batch_no for batch in batches]


class Reader:
    """A consumer of the lanes on the project's own connection, with the worker's way to count what it has in hand."""

    def __init__(self, *lanes: str) -> None:
        self.redis = redis_client()
        self.got: list = []
        self._connection = app.connection_for_read()
        self.channel = self._connection.channel()
        self._consumer = Consumer(
            self.channel, [app.amqp.queues[lane] for lane in lanes], on_message=self._take, accept=["json"]
        )
        self._consumer.qos(prefetch_count=1)
        self._consumer.consume()

    def _take(self, message) -> None:
        self.got.append(message)
        message.ack()

    def read_until(self, number: str) -> list:
        """What was delivered up to the message of this batch, that one left out."""
        self.got.clear()
        deadline = time.monotonic() + 20
        while not self.got or self.got[-1].headers["id"] != number:
            assert time.monotonic() < deadline, "the good message behind it was not delivered"
            self.read_one()
        return self.got[:-1]

    def read_one(self, timeout: float = 20) -> None:
        self._connection.drain_events(timeout=timeout)

    def close(self) -> None:
        self._connection.close()
        self.redis.flushall()


@pytest.fixture(scope="module")
def reader():
    redis_client().flushall()
    reader = Reader(*LANES)
    yield reader
    reader.close()


@pytest.fixture(scope="module")
def real(reader) -> dict:
    """A message as a beat writes it."""
    publish(LANE)
    return json.loads(reader.redis.rpop(KEY))


def delivered(reader: Reader, *items: bytes | str) -> list:
    """What comes out of a queue with these items in it. A good message behind them always does."""
    reader.redis.lpush(KEY, *items)
    found = reader.read_until(publish(LANE)[0])
    assert reader.channel.qos.can_consume(), "something that was refused still counts as being in hand"
    return found


@pytest.fixture
def log(caplog, monkeypatch):
    """What the log says from now on, whatever was told before."""
    monkeypatch.setattr(transport, "_refusals", transport.Refusals())
    return caplog


def encoded(body: object) -> str:
    return base64.b64encode(json.dumps(body).encode()).decode()


def changed(message: dict, *path: str, to: object) -> str:
    message = copy.deepcopy(message)
    place = message
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    return json.dumps(message)


# One by one.


@pytest.mark.parametrize("item", RUBBISH, ids=lambda item: repr(item[:24]))
def test_what_is_no_message_is_dropped(reader, item):
    assert delivered(reader, item) == []


def test_a_message_of_a_beat_is_delivered_as_it_is(reader, real):
    [message] = delivered(reader, json.dumps(real))

    number = real["headers"]["id"]
    assert (message.headers, message.payload[:2]) == (real["headers"], [[number], {}])
    assert message.properties["correlation_id"] == number
    assert set(message.payload[2].values()) == {None}


def test_the_same_message_twice_is_two_deliveries(reader, real):
    one, other = delivered(reader, json.dumps(real), json.dumps(real))

    assert one.delivery_tag != other.delivery_tag


STRANGE = {
    "another task": (("headers", "task"), "shop.tasks.send_mail"),
    "a task name that is no name": (("headers", "task"), {"a": 1}),
    "an id that is an object": (("headers", "id"), {"a": 1}),
    "an id that is no batch number": (("headers", "id"), "../../etc/passwd"),
    "an id of another batch than the body's": (("headers", "id"), str(uuid4())),
    "a time limit that is a text": (("headers", "timelimit"), "x"),
    "a time limit": (("headers", "timelimit"), [0.001, 0.001]),
    "an eta": (("headers", "eta"), "2090-01-01T00:00:00"),
    "an eta that is no time": (("headers", "eta"), "x"),
    "an expiry": (("headers", "expires"), "2000-01-01T00:00:00"),
    "another root": (("headers", "root_id"), "x"),
    "a parent": (("headers", "parent_id"), "x"),
    "a group": (("headers", "group"), "x"),
    "retries": (("headers", "retries"), 7),
    "retries without end": (("headers", "retries"), 1e308),
    "a shadow name": (("headers", "shadow"), "punctual.innocent"),
    "stamps": (("headers", "stamps"), {"a": "b"}),
    "a header of its own": (("headers", "x-attack"), "x"),
    "headers that are none": (("headers",), "x"),
    "no headers": (("headers",), None),
    "compression": (("headers", "compression"), "application/x-gzip"),
    "pickle": (("content-type",), "application/x-python-serialize"),
    "binary": (("content-encoding",), "binary"),
    "no content type": (("content-type",), None),
    "a place for an answer": (("properties", "reply_to"), "x"),
    "another correlation": (("properties", "correlation_id"), "x"),
    "another encoding of the body": (("properties", "body_encoding"), "utf-8"),
    "an expiration": (("properties", "expiration"), "1"),
    "a delivery tag that is an object": (("properties", "delivery_tag"), {"a": 1}),
    "a priority that is a text": (("properties", "priority"), "x"),
    "an exchange": (("properties", "delivery_info"), {"exchange": "celery", "routing_key": "celery"}),
    "delivery info that is none": (("properties", "delivery_info"), "x"),
    "properties that are none": (("properties",), []),
    "a body that is a text": (("body",), "x"),
    "a body that is an object": (("body",), {}),
    "no body": (("body",), None),
    "a body that is no JSON": (("body",), base64.b64encode(b"x").decode()),
    "a body that is a JSON text": (("body",), encoded("x")),
    "a body with too many arguments": (("body",), encoded([[str(uuid4()), 1], {}, {}])),
    "a body without an argument": (("body",), encoded([[], {}, {}])),
    "a body with keywords": (("body",), encoded([[str(uuid4())], {"a": 1}, {}])),
    "a part of its own": (("x-attack",), 1),
}


@pytest.mark.parametrize(("path", "value"), STRANGE.values(), ids=STRANGE)
def test_a_message_that_says_anything_else_is_dropped(reader, real, path, value):
    assert delivered(reader, changed(real, *path, to=value)) == []


@pytest.mark.parametrize("name", ["callbacks", "errbacks", "chain", "chord"])
def test_a_message_that_goes_on_to_other_tasks_is_dropped(reader, real, name):
    number = real["headers"]["id"]
    body = [[number], {}, {"callbacks": None, name: [{"task": "celery.backend_cleanup", "args": []}]}]

    assert delivered(reader, changed(real, "body", to=encoded(body))) == []


def test_what_a_later_celery_leaves_out_or_adds_without_saying_anything_does_no_harm(reader, real):
    """Else beats and workers of two versions could not work together while one is being deployed."""
    message, number = copy.deepcopy(real), real["headers"]["id"]
    message["headers"] |= {"something_new": None, "another": [], "a_third": False}
    for name in ("stamps", "replaced_task_nesting", "shadow"):
        del message["headers"][name]
    message["body"] = encoded([[number], {}, {"callbacks": None, "something_new": None}])

    [got] = delivered(reader, json.dumps(message))

    assert got.headers == real["headers"]


# In numbers, and in size.


def test_nothing_of_a_large_or_deep_message_is_read(reader, log):
    bomb = base64.b64encode(zlib.compress(b"[" * 50_000_000)).decode()
    message = {"body": bomb, "headers": {"compression": "application/x-gzip"}, "properties": {}}

    assert delivered(reader, json.dumps(message), b"[" * 100_000, b'{"a":' * 1_500, b"[" * 4_000) == []
    assert log.text.count("larger than") == 2


def test_a_message_of_ours_with_something_large_beside_it_is_dropped(reader, real):
    assert delivered(reader, json.dumps(real) + " " * 10_000) == []


def test_each_is_told_in_one_line_and_a_flood_in_a_few(reader, log):
    delivered(reader, *[b"rubbish"] * (transport.LINES + 500))

    lines = [record.getMessage() for record in log.records if record.name == transport.__name__]
    assert 1 <= len(lines) <= transport.LINES + 2
    assert all("\n" not in line for line in lines)


def test_the_name_of_a_foreign_task_is_told_and_can_not_forge_a_log_line(reader, real, log):
    delivered(reader, changed(real, "headers", "task", to="shop.tasks.send_mail\nERROR all is lost"))

    [record] = log.records
    assert "shop.tasks.send_mail" in record.getMessage() and "\n" not in record.getMessage()


# By chance. What comes out was made here, whatever went in.

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.just(str(uuid4())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
NAMES = [
    "task",
    "id",
    "timelimit",
    "eta",
    "expires",
    "compression",
    "reply_to",
    "chord",
    "body_encoding",
    "delivery_tag",
]


@st.composite
def mutants(draw, message: dict) -> bytes:
    """A real message with some of its parts replaced, removed or added; or with some of its bytes changed."""
    message = copy.deepcopy(message)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from([message, message["headers"], message["properties"]]))
        if not isinstance(place, dict):
            continue
        name = draw(st.sampled_from(sorted({*place, *NAMES})))
        if draw(st.booleans()):
            place[name] = draw(json_values)
        else:
            place.pop(name, None)
        if not all(isinstance(message.get(part), dict) for part in ("headers", "properties")):
            break
    item = bytearray(json.dumps(message).encode())
    for _ in range(draw(st.integers(0, 2))):
        item[draw(st.integers(0, len(item) - 1))] = draw(st.integers(0, 255))
    return bytes(item[: draw(st.integers(0, len(item)))] if draw(st.integers(0, 9)) == 0 else item)


@settings(max_examples=150 if FULL else 20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_is_made_of_a_message_nothing_but_our_own_comes_out(reader, real, data):
    item = data.draw(mutants(real))

    for message in delivered(reader, item):
        number = message.headers["id"]
        assert message.headers == real["headers"] | {"id": number, "root_id": number}
        assert message.payload == [[number], {}, dict.fromkeys(("callbacks", "errbacks", "chain", "chord"))]
        assert set(message.properties) == set(real["properties"])
        assert isinstance(message.delivery_tag, str)


# A lane whose queue is no queue.


@pytest.fixture
def own_reader():
    redis_client().flushall()
    reader = Reader(*LANES)
    yield reader
    reader.close()


def test_a_lane_whose_key_is_no_list_is_left_out_and_the_others_are_read(own_reader, caplog):
    own_reader.redis.set(QUEUE_PREFIX + "critical", "x")

    for lane in ("high", "backfill", "default"):
        own_reader.read_until(publish(lane)[0])

    assert "lane='critical'" in caplog.text and "string" in caplog.text


def test_a_lane_is_read_again_when_its_key_is_deleted(own_reader, monkeypatch):
    monkeypatch.setattr(queues, "ASK_AGAIN_SECONDS", 0.05)
    own_reader.redis.set(QUEUE_PREFIX + "critical", "x")
    own_reader.read_until(publish("low")[0])

    own_reader.redis.delete(QUEUE_PREFIX + "critical")

    own_reader.read_until(publish("critical")[0])


def test_a_consumer_can_begin_while_a_key_is_no_list(redis):
    redis.flushall()
    redis.hset(QUEUE_PREFIX + "default", "a", "b")
    reader = Reader(*LANES)
    try:
        reader.read_until(publish("low")[0])
    finally:
        reader.close()


def test_a_consumer_whose_only_lane_is_broken_waits_for_it(redis, monkeypatch):
    monkeypatch.setattr(queues, "ASK_AGAIN_SECONDS", 0.05)
    redis.flushall()
    redis.set(KEY, "x")
    reader = Reader(LANE)
    try:
        with pytest.raises(TimeoutError):
            for _ in range(5):
                reader.read_one(timeout=0.1)
        redis.delete(KEY)
        reader.read_until(publish(LANE)[0])
    finally:
        reader.close()


def test_publishing_to_a_broken_lane_names_it_and_the_others_get_their_messages(redis):
    redis.flushall()
    redis.set(QUEUE_PREFIX + "backfill", "x")

    with pytest.raises(publisher.LanesRefused) as refused:
        publish("critical", "backfill", "low", "backfill")

    assert refused.value.lanes == {"backfill"}
    assert depths() == {"critical": 1, "high": 0, "default": 0, "low": 1, "deferred": 0, "backfill": None}
    redis.flushall()


@pytest.fixture
def look():
    """A beat's look at all shards, with the real publisher, while a worker serves every lane."""
    worker, listener = nodes.new_node_id(), Listener(nodes.new_node_id())
    dispatcher = Dispatcher("test", publisher.publish, listener)

    def run_once():
        nodes.report_worker(worker, "worker", 4, list(LANES))
        return dispatcher.run_once(anybodys(), conf().SHARDS)

    yield run_once
    listener.close()


@pytest.mark.parametrize("task_type", ["T_QUIET", "T_RATED"])  # one of them has a limit
def test_a_beat_takes_back_what_a_broken_lane_refused_and_claims_no_more_of_it(look, redis, monkeypatch, task_type):
    monkeypatch.setattr(queues, "ASK_AGAIN_SECONDS", 0.05)
    redis.set(QUEUE_PREFIX + "backfill", "x")
    broken, *others = [schedule(task_type, lane, lane=lane).task_id for lane in reversed(LANES)]

    wait_until(lambda: look() and all(row(task).status == "RUNNING" for task in others), 20)
    wait_until(lambda: look().wait_seconds > 0.1, 20)  # it doesn't look for it again and again

    assert (row(broken).status, row(broken).retry_count) == ("INIT", 0)
    assert TaskBatch.objects.filter(lane="backfill").count() == 1
    assert not TaskBatch.objects.filter(finished_at=None, lane="backfill").exists()

    redis.delete(QUEUE_PREFIX + "backfill")
    wait_until(lambda: look() and row(broken).status == "RUNNING", 20)


# A real worker and a real beat.


def test_a_worker_goes_on_after_the_ugliest_messages_and_without_a_broken_lane(stack, redis):
    worker, beat = stack.worker(concurrency=1), stack.beat()
    before = peak_kb(worker.pid)
    redis.set(QUEUE_PREFIX + "backfill", "x")
    for lane in GOOD_LANES:
        redis.lpush(QUEUE_PREFIX + lane, *RUBBISH, *forged(lane))

    waiting = schedule("T_QUIET", "waits", lane="backfill").task_id
    wait_until(lambda: "lane.broken" in worker.text() and "lane.broken" in beat.text(), 30, describe=stack.logs)
    others = [schedule("T_QUIET", "goes on", lane=lane).task_id for lane in GOOD_LANES]
    wait_for(stack, *others)

    assert (row(waiting).status, row(waiting).retry_count) == ("INIT", 0)
    assert peak_kb(worker.pid) - before < 60_000
    assert "message.refused" in worker.text() and "Traceback" not in worker.text()
    [problem] = [problem for problem in read_status().problems() if "backfill" in problem and "list" in problem]
    assert "Delete that key" in problem

    redis.delete(QUEUE_PREFIX + "backfill")

    wait_for(stack, waiting)
    assert worker.alive and beat.alive
    assert {row(task).retry_count for task in (waiting, *others)} == {0}


def peak_kb(pid: int) -> int:
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
