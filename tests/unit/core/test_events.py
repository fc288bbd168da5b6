"""The catalogue of events, patterns over their names, and a row of the outbox taken apart."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from tasks_app.core import events
from tasks_app.core.errors import InvalidConfiguration, InvalidTask
from tasks_app.core.events import KINDS, Event, OutboxRow, Patterns, problems_of, schema_of
from tests.support.json_schema import keeps_to

AT = datetime(2026, 11, 16, 9, tzinfo=UTC)
BATCH = UUID(int=7)
DATA = KINDS["task.dead"].example


def row(**values) -> OutboxRow:
    nothing = dict.fromkeys(OutboxRow._fields)
    return OutboxRow(
        **nothing | {"id": 12, "created_at": AT, "tenant": "acme", "event": "task.dead", "count": 1} | values
    )


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [
        (["*"], {"task.dead", "task.created", "order.paid"}),
        (["*", "!task.created"], {"task.dead", "order.paid"}),
        (["!task.created", "*"], {"task.dead", "task.created", "order.paid"}),
        (["*", "!task.*", "task.dead"], {"task.dead", "order.paid"}),
        (["task.*"], {"task.dead", "task.created"}),
        (["*.paid"], {"order.paid"}),
        (["task.dea"], set()),
        (["!*"], set()),
        ([], set()),
    ],
)
def test_the_last_pattern_that_matches_decides(patterns, kept):
    assert {name for name in ("task.dead", "task.created", "order.paid") if name in Patterns(patterns)} == kept


@pytest.mark.parametrize(
    "pattern", ["*", "!*", "task.*", "!task.created", "*.paid", "order.paid", "new_order.*", "task*"]
)
def test_what_is_a_pattern_is_allowed(pattern):
    assert list(problems_of([pattern], "here")) == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("task.died", "here has 'task.died', and there is no such event. Did you mean"),
        ("!task.succeded", "Did you mean 'task.succeeded'?"),
        ("task.x*", "there is no such event"),
        ("Task.dead", "no pattern for events"),
        ("", "no pattern for events"),
        ("task dead", "no pattern for events"),
        ("!", "no pattern for events"),
        (7, "here has 7, which is no pattern"),
    ],
)
def test_what_is_no_pattern_is_refused_in_words(pattern, words):
    [problem] = problems_of([pattern], "here")

    assert words in problem


@pytest.mark.parametrize("name", ["order.paid", "order.line.added", "a.b", "order_2.paid"])
def test_an_app_names_its_events_by_the_scheme(name):
    assert events.checked_own_name(name) == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ORDER_PAID", "lower-case words"),
        ("paid", "lower-case words"),
        ("order.", "lower-case words"),
        ("order.paid\n", "lower-case words"),
        (None, "lower-case words"),
        ("order." + "x" * 50, "at most 50"),
        ("task.done", "of which only Punctual itself tells"),
        ("job.done", "of which only Punctual itself tells"),
    ],
)
def test_any_other_name_is_refused(name, words):
    with pytest.raises(InvalidTask, match=words):
        events.checked_own_name(name)


def test_a_kind_is_declared_once_or_twice_alike():
    schema = {"type": "object"}
    try:
        first = events.declare("order.declared", "An order was declared.", schema)
        assert events.declare("order.declared", "An order was declared.", schema) == first == KINDS["order.declared"]
        with pytest.raises(InvalidConfiguration, match="declared twice"):
            events.declare("order.declared", "Something else.", schema)
    finally:
        del KINDS["order.declared"]


def test_a_row_is_as_many_events_as_it_says():
    one, two = row(count=2, keys=["a", "b"], task_ids=[1, 2], payloads=[{"code": "X"}, None], batch_no=BATCH).events()

    assert (one.id, one.key, one.task, one.data, one.batch) == ("12-1", "a", 1, {"code": "X"}, BATCH)
    assert (two.id, two.key, two.task, two.data) == ("12-2", "b", 2, None)
    assert one.revision == two.revision == 12


@pytest.mark.parametrize(
    ("kind", "state", "attempt"),
    [("task.dead", "DEAD", 1), ("task.created", "INIT", None), ("job.created", None, None), ("order.paid", None, None)],
)
def test_what_is_empty_is_what_the_kind_implies(kind, state, attempt):
    [event] = row(event=kind, task_ids=[1], keys=["a"]).events()

    assert (event.state, event.attempt, event.job, event.fire_time, event.idem_key) == (
        state,
        attempt,
        None,
        None,
        None,
    )


def test_what_is_there_counts():
    [event] = row(
        task_ids=[1], keys=["a"], states=["FAIL"], attempts=[3], jobs=[4], fire_times=[AT], idem_keys=["i"], worker="w"
    ).events()

    assert event[5:] == (None, "a", 1, 4, AT, "i", 3, "FAIL", "w", None, None)


def test_a_row_of_the_version_before_is_one_event():
    [old] = row(event="task.failed", task_id=5).events()
    [own] = row(event="PUBLISH_TIME_CHANGED", payload={"article": 1}).events()

    assert (old.id, old.task, old.unit, old.state) == ("12-1", 5, None, "FAIL")
    assert (own.task, own.data) == (None, {"article": 1})


def test_arrays_that_do_not_fit_are_an_error_and_not_half_told():
    with pytest.raises(ValueError, match="zip"):
        list(row(count=2, task_ids=[1, 2], keys=["a"]).events())


def test_an_event_as_json_is_what_its_schema_says():
    event = Event(12, 3, "task.dead", AT, "acme", "T", "a", 5, 6, AT, "i", 2, "DEAD", "w", BATCH, DATA)

    told = event.as_json()

    assert told == {
        "id": "12-3",
        "type": "task.dead",
        "time": "2026-11-16T09:00:00+00:00",
        "tenant": "acme",
        "unit": {"task_type": "T", "key": "a"},
        "task": 5,
        "job": 6,
        "fire_time": "2026-11-16T09:00:00+00:00",
        "idem_key": "i",
        "attempt": 2,
        "state": "DEAD",
        "worker": "w",
        "revision": 12,
        "data": DATA,
    }
    assert keeps_to(schema_of(KINDS["task.dead"]), told)
    assert not keeps_to(schema_of(KINDS["task.late"]), told)
    assert list(told) == list(schema_of(KINDS["task.dead"])["properties"])


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_has_a_schema_and_an_example_that_fits(kind):
    assert keeps_to(kind.data, kind.example)
    assert kind.example is None or set(kind.example) <= set(kind.data["properties"])
    assert kind.sentence.endswith(".")
