"""Records of Python's logging as lines of JSON: whatever was logged, each is one line that can be read."""

import json
import logging
import os
import queue
import sys
from logging.handlers import QueueHandler

import pytest

from django_punctual.testing import fake_task
from tasks_app.core import running
from tasks_app.logs import FIELDS, JsonFormatter, TaskFilter


@pytest.fixture(autouse=True)
def _unwanted_again(monkeypatch):
    """Making a formatter turns it on for the whole process."""
    monkeypatch.setattr(running, "_wanted", False)


def record(message: object, *args: object, **more: object) -> logging.LogRecord:
    return logging.getLogger("shop").makeRecord("shop", logging.WARNING, "shop.py", 7, message, args, None, **more)


def line(made: logging.LogRecord) -> dict:
    text = JsonFormatter().format(made)
    assert text.isascii()
    assert text.isprintable()
    return json.loads(text)


def test_a_record_is_one_line_with_what_everybody_needs():
    made = record("sent %d mails\nto \x1b[31m%s", 2, "änne")
    made.created = 1_700_000_000.25

    found = line(made)

    assert found.pop("process").endswith(f":{os.getpid()}")
    assert found == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "WARNING",
        "logger": "shop",
        "message": "sent 2 mails\nto \x1b[31männe",
    }


def test_an_error_is_in_the_same_line_with_its_stack():
    try:
        raise KeyError("gone")
    except KeyError:
        made = record("no such order")
        made.exc_info = sys.exc_info()

    found = line(made)

    assert found["error"] == "KeyError"
    assert found["stack"].startswith("Traceback (most recent call last):\n")
    assert found["stack"].endswith("KeyError: 'gone'")


def test_what_came_as_extra_is_in_it_and_can_not_pass_for_what_we_know():
    found = line(record("paid", extra={"order": 7, "level": "FINE", "who": {1, 2}.__class__}))

    assert (found["order"], found["level"], found["who"]) == (7, "WARNING", "<class 'set'>")


class Unreadable:
    def __str__(self) -> str:
        raise OSError("no text")


@pytest.mark.parametrize("odd", [float("nan"), Unreadable(), (endless := []).append(endless) or endless, {(1,): 2}])
def test_a_line_never_fails(odd):
    assert line(record("odd", extra={"odd": odd}))["message"] == "odd"
    assert line(record("%d orders", odd))["message"]
    assert line(record("%d orders", "many"))["message"] == "'%d orders' could not be formatted: TypeError"


def test_a_line_tells_the_task_whose_handler_runs_and_then_no_more():
    task = fake_task(key="a", tenant="acme", attempt=2)
    before = running.RUNNING.set(task)
    try:
        inside = line(record("inside"))
    finally:
        running.RUNNING.reset(before)

    told = {name: inside[name] for name in FIELDS if name in inside}
    assert told == {"tenant": "acme", "type": task.type, "task": task.id, "attempt": 2}
    assert not line(record("outside")).keys() & set(FIELDS)


def test_a_call_for_many_tells_all_of_them():
    tasks = [fake_task(id=number, tenant="acme") for number in range(1, 301)]
    before = running.RUNNING.set(tasks)
    try:
        found = line(record("inside"))
    finally:
        running.RUNNING.reset(before)

    assert (found["tenant"], found["tasks"][:2], len(found["tasks"])) == ("acme", [1, 2], 100)


def test_a_format_of_ones_own_has_the_fields_and_they_are_empty_elsewhere():
    formatter, only = logging.Formatter("[%(tenant)s/%(task)s] %(message)s"), TaskFilter()
    task = fake_task(id=7, tenant="acme")
    before = running.RUNNING.set(task)
    try:
        inside = record("inside")
        assert only.filter(inside)
    finally:
        running.RUNNING.reset(before)
    outside = record("outside")
    assert only.filter(outside)

    assert [formatter.format(one) for one in (inside, outside)] == ["[acme/7] inside", "[/] outside"]


def test_a_record_that_another_thread_formats_carries_its_task_along():
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    queued = QueueHandler(waiting)
    queued.addFilter(TaskFilter())
    before = running.RUNNING.set(fake_task(id=7))
    try:
        queued.handle(record("inside"))
    finally:
        running.RUNNING.reset(before)

    found = line(waiting.get_nowait())
    assert (found["task"], "job" in found) == (7, False)


def test_it_is_noted_whose_handler_runs_only_once_somebody_wants_to_know():
    assert not running.wanted()
    JsonFormatter()
    assert running.wanted()
