"""Records of Python's logging are kept with the task whose handler emitted them, and with no other."""

import asyncio
import logging
import threading

import pytest
from asgiref.sync import sync_to_async

from django_punctual import handler
from django_punctual.testing import fake_task
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY

log = logging.getLogger("shop.mail")


@pytest.fixture
def declare(caplog):
    """Declares a handler, and gives it as a worker calls it."""
    caplog.set_level(logging.INFO)

    def declare(call, **options):
        handler("UNIT_LOGS", logs=True, **options)(call)
        return REGISTRY.require("UNIT_LOGS")

    yield declare
    REGISTRY.discard("UNIT_LOGS")


def lines(task) -> list[tuple[str, str]]:
    return [(line.level, line.text) for line in task._reporting().lines]


def test_what_a_handler_logs_is_kept_and_what_is_logged_before_and_after_is_not(declare):
    def run(task):
        log.info("sending to %s", task.key)
        logging.getLogger("shop.quiet").debug("not at this level")

    task = fake_task(key="a")
    log.info("before")
    declare(run).call(task)
    log.info("after")

    assert lines(task) == [("INFO", "shop.mail: sending to a")]


def test_an_error_is_kept_with_its_stack_and_what_can_not_be_formatted_with_its_words(declare):
    def run(task):
        try:
            raise KeyError("gone")
        except KeyError:
            log.exception("no such order")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(logging, "raiseExceptions", False)
            log.info("%d orders", "many")

    task = fake_task()
    declare(run).call(task)

    (level, first), (_, second) = lines(task)
    assert (level, first.startswith("shop.mail: no such order\nTraceback")) == ("ERROR", True)
    assert second == "shop.mail: '%d orders' could not be formatted: TypeError"


def test_a_handler_that_fails_leaves_the_context_as_it_was(declare):
    def run(task):
        raise KeyError("gone")

    task = fake_task()
    with pytest.raises(KeyError):
        declare(run).call(task)
    log.info("after")

    assert lines(task) == []


def test_tasks_on_one_event_loop_keep_their_own(declare):
    barrier = None

    async def run(task):
        for step in range(3):
            await barrier.wait()
            log.info("%s %d", task.key, step)
        await sync_to_async(log.info)("%s from a thread", task.key)

    tasks = [fake_task(key=key) for key in "ab"]
    call = declare(run).call

    async def both():
        nonlocal barrier
        barrier = asyncio.Barrier(2)
        await asyncio.gather(*(call(task) for task in tasks))

    asyncio.run(both())

    for task in tasks:
        expected = [f"shop.mail: {task.key} {step}" for step in range(3)] + [f"shop.mail: {task.key} from a thread"]
        assert [text for _, text in lines(task)] == expected


def test_threads_keep_their_own(declare):
    barrier = threading.Barrier(2)

    def run(task):
        barrier.wait(30)
        log.info("%s", task.key)
        barrier.wait(30)

    tasks = [fake_task(key=key) for key in "ab"]
    call = declare(run, concurrency=2).call
    threads = [threading.Thread(target=call, args=[task]) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [lines(task) for task in tasks] == [[("INFO", "shop.mail: a")], [("INFO", "shop.mail: b")]]


def test_an_apply_logs_too_and_typed_handlers_as_well(declare):
    def write(task, answer):
        log.info("answer %s", answer)

    def run(order: int) -> int:
        log.info("order %d", order)
        return order

    declared, task = declare(run, apply=write), fake_task(payload={"order": 5})
    declared.apply(task, declared.call(task))

    assert [text for _, text in lines(task)] == ["shop.mail: order 5", "shop.mail: answer 5"]


def test_nobody_can_tell_whose_the_records_of_a_batch_are(declare):
    declared = declare(lambda tasks: log.info("all of them"), batch=True)

    [problem] = declared.contradictions()
    assert "Drop logs=True" in problem
    declared.call([fake_task()])


def test_a_handler_without_it_pays_nothing():
    def run(task):
        log.info("not kept")

    handler("UNIT_SILENT")(run)
    try:
        assert REGISTRY.require("UNIT_SILENT").call is run
        with pytest.raises(InvalidConfiguration, match=r"logs='yes' must be True"):
            handler("UNIT_SILENT", logs="yes")
    finally:
        REGISTRY.discard("UNIT_SILENT")
