"""What Django's own tests ask of every backend, asked of ours.

Adapted from tests/tasks of Django 6.1, Copyright (c) Django Software Foundation and individual contributors, under the
BSD 3-Clause licence: https://github.com/django/django/blob/main/LICENSE
"""

import dataclasses
import logging
from contextlib import contextmanager
from datetime import datetime

import django
import pytest
from django.db import transaction
from django.test import TestCase, override_settings
from django.utils import timezone
from django.utils.module_loading import import_string

from django_punctual.tasks import PunctualBackend, PunctualTask, task
from tasks_app.django_tasks import interface
from tasks_app.django_tasks.interface import (
    InvalidTask,
    InvalidTaskBackend,
    Task,
    TaskResultDoesNotExist,
    TaskResultStatus,
    task_backends,
)
from tests.support.django_tasks import BACKEND, background
from tests.support.engine import run_due

TaskResultMismatch = import_string(f"{TaskResultDoesNotExist.__module__}.TaskResultMismatch")


@pytest.fixture(scope="module", autouse=True)
def _tasks():
    global tasks
    with background({"default": {"BACKEND": BACKEND, "QUEUES": []}}) as tasks:
        yield


@contextmanager
def configured(**options):
    with override_settings(TASKS={"default": {"BACKEND": BACKEND} | options}):
        yield


class TheTask(TestCase):
    def test_using_correct_backend(self):
        backend = task_backends["default"]

        self.assertIsInstance(backend, PunctualBackend)
        self.assertEqual((backend.alias, backend.options), ("default", {}))
        self.assertEqual(list(backend.check()), [])
        self.assertTrue(backend.supports_defer and backend.supports_async_task)
        self.assertTrue(backend.supports_get_result and backend.supports_priority)

    def test_task_decorator(self):
        for one in (tasks.add, tasks.add_later, tasks.know):
            self.assertIsInstance(one, PunctualTask)
            self.assertIsInstance(one, Task)
        self.assertIs(task(tasks.echo.func).func, tasks.echo.func)

    def test_using(self):
        now = timezone.now()
        changed = tasks.add.using(priority=10, run_after=now).using(queue_name="queue_1")

        self.assertEqual((changed.priority, changed.queue_name, changed.run_after), (10, "queue_1", now))
        self.assertEqual((tasks.add.priority, tasks.add.queue_name, tasks.add.run_after), (0, "default", None))
        self.assertEqual(tasks.add.using(), tasks.add)
        self.assertIsNot(tasks.add.using(), tasks.add)

    def test_using_unknown_backend(self):
        with self.assertRaisesMessage(InvalidTaskBackend, "The connection 'unknown' doesn't exist."):
            tasks.add.using(backend="unknown")
        with configured(), override_settings(TASKS={"missing": {"BACKEND": "does.not.exist"}}):
            with self.assertRaisesMessage(InvalidTaskBackend, "Could not find backend 'does.not.exist'"):
                tasks.add.using(backend="missing")

    def test_naive_datetime(self):
        with self.assertRaisesMessage(InvalidTask, "run_after must be an aware datetime."):
            tasks.add.using(run_after=datetime.now())  # noqa: DTZ005

    def test_invalid_priority(self):
        for wrong in (-101, 101, 3.1):
            with self.assertRaisesMessage(InvalidTask, "priority must be a whole number between -100 and 100."):
                tasks.add.using(priority=wrong)
        for right in (100, -100, 0):
            tasks.add.using(priority=right)

    def test_unknown_queue_name(self):
        with configured(QUEUES=["queue-1"]):
            with self.assertRaisesMessage(InvalidTask, "Queue 'queue-2' is not valid for backend."):
                tasks.add.using(queue_name="queue-2")
        self.assertEqual(tasks.add.using(queue_name="queue-2").queue_name, "queue-2")

    def test_call(self):
        self.assertEqual(tasks.add.call(40, b=2), 42)
        self.assertEqual(tasks.add_later.call(40, b=2), 42)

    async def test_acall(self):
        self.assertEqual(await tasks.add.acall(40, b=2), 42)
        self.assertEqual(await tasks.add_later.acall(40, b=2), 42)

    def test_invalid_function(self):
        for invalid in (any, self.test_invalid_function, lambda: None):
            with self.subTest(invalid):
                with self.assertRaisesMessage(InvalidTask, "Task function must be defined at a module level."):
                    task()(invalid)

    def test_name_and_module_path(self):
        self.assertEqual(tasks.add.name, "add")
        self.assertEqual(tasks.add.module_path, "tests.support.testapp.background.add")
        self.assertIs(import_string(tasks.add.module_path), tasks.add)

    def test_takes_context_without_taking_context(self):
        with self.assertRaisesMessage(
            InvalidTask, "Task takes context but does not have a first argument of 'context'."
        ):
            task(takes_context=True)(tasks.add.func)

    def test_run_after_in_decorator(self):
        with self.assertRaisesMessage(TypeError, "run_after"):
            task(run_after=timezone.now())(tasks.add.func)

    def test_custom_options(self):
        mine = task(priority=10, queue_name="high", key="a", max_retry=3)(tasks.add.func)

        self.assertEqual((mine.priority, mine.queue_name, mine.key, mine.max_retry), (10, "high", "a", 3))
        self.assertEqual((mine.takes_context, mine.run_after), (False, None))
        with self.assertRaises(TypeError):
            task(unknown_param=123)(tasks.add.func)

    @pytest.mark.skipif(django.VERSION[:2] == (6, 0), reason="its @task takes no options of a backend")
    def test_custom_options_of_the_decorator_of_django(self):
        mine = import_string(f"{Task.__module__}.task")(key="a", backoff=[60])(tasks.add.func)

        self.assertEqual((type(mine), mine.key, mine.backoff), (PunctualTask, "a", (60,)))

    @override_settings(TASKS={})
    def test_no_backends(self):
        with self.assertRaises(InvalidTaskBackend):
            tasks.add.using()


class TheResult(TestCase):
    def test_enqueue_task(self):
        for one in (tasks.echo, tasks.add_later):
            with self.subTest(one):
                result = one.enqueue(1, b=3)

                self.assertEqual((result.status, result.is_finished, result.attempts), (READY, False, 0))
                self.assertIsNone(result.started_at)
                self.assertIsNone(result.last_attempted_at)
                self.assertIsNone(result.finished_at)
                self.assertEqual((result.task, result.args, result.kwargs), (one, [1], {"b": 3}))
                self.assertEqual(result.errors, [])
                with self.assertRaisesMessage(ValueError, "Task has not finished yet"):
                    _ = result.return_value

    def test_finished_task(self):
        for one in (tasks.add, tasks.add_later):
            with self.subTest(one):
                result = ran(one, 1, b=3)

                self.assertEqual((result.status, result.is_finished, result.attempts), (SUCCESSFUL, True, 1))
                self.assertGreaterEqual(result.started_at, result.enqueued_at)
                self.assertGreaterEqual(result.finished_at, result.started_at)
                self.assertEqual(result.started_at, result.last_attempted_at)
                self.assertEqual((result.task, result.args, result.kwargs), (one, [1], {"b": 3}))
                self.assertEqual(result.return_value, 4)

    def test_catches_exception(self):
        for one, exception in ((tasks.fail, tasks.Declined), (tasks.leave, SystemExit)):
            with self.subTest(one), self.assertLogs(LOGGER, level="ERROR") as logged:
                result = ran(one, "This Task failed")

                self.assertEqual(len(logged.output), 1)
                self.assertIn("This Task failed", logged.output[0])
                self.assertEqual((result.status, result.is_finished), (FAILED, True))
                with self.assertRaisesMessage(ValueError, "Task failed"):
                    _ = result.return_value
                self.assertGreaterEqual(result.started_at, result.enqueued_at)
                self.assertGreaterEqual(result.finished_at, result.started_at)
                self.assertEqual(result.errors[0].exception_class, exception)
                self.assertTrue(result.errors[0].traceback.endswith(f"{exception.__name__}: This Task failed\n"))

    def test_complex_exception(self):
        result = ran(tasks.fail_in_a_lambda)

        self.assertEqual(result.status, FAILED)
        self.assertIsNone(result._return_value)
        self.assertEqual(result.errors[0].exception_class, ValueError)
        self.assertIn('ValueError(ValueError("This task failed"))', result.errors[0].traceback)

    def test_complex_return_value(self):
        result = ran(tasks.give_a_function)

        self.assertEqual(result.status, FAILED)
        self.assertIsNone(result._return_value)
        self.assertEqual(result.errors[0].exception_class, TypeError)
        self.assertIn("Unsupported type", result.errors[0].traceback)

    def test_invalid_argument(self):
        with self.assertRaisesMessage(TypeError, "Unsupported type"):
            tasks.echo.enqueue(datetime.now())  # noqa: DTZ005

    def test_get_result(self):
        result = task_backends["default"].enqueue(tasks.add, (1,), {})

        self.assertEqual(result, task_backends["default"].get_result(result.id))
        self.assertEqual(result, tasks.add.get_result(result.id))
        with self.assertRaisesMessage(TaskResultMismatch, "Task does not match"):
            tasks.echo.get_result(result.id)
        with self.assertRaises(TaskResultDoesNotExist):
            tasks.add.get_result("123456789")

    def test_refresh_result(self):
        result = tasks.add.enqueue(1)
        before = dataclasses.asdict(result)

        result.refresh()
        self.assertEqual(dataclasses.asdict(result), before)
        run_due()
        self.assertEqual(result.status, READY)
        result.refresh()
        self.assertEqual(result.status, SUCCESSFUL)

    def test_takes_context(self):
        result = ran(tasks.know, 1)

        self.assertEqual(result.return_value, result.id)

    def test_logs(self):
        with self.assertLogs(LOGGER, level="DEBUG") as logged:
            result = ran(tasks.add, 1)

        for line, words in zip(logged.output, ("enqueued", "state=RUNNING", "state=SUCCESSFUL"), strict=True):
            self.assertIn(words, line)
            self.assertIn(f"id={result.id} ", line)
            self.assertNotIn("None", line)

    def test_validate_on_enqueue(self):
        unknown = tasks.add.using(queue_name="unknown_queue")

        with configured(QUEUES=["queue-1"]):
            with self.assertRaisesMessage(InvalidTask, "Queue 'unknown_queue' is not valid for backend"):
                unknown.enqueue(1)

    def test_enqueued_within_the_transaction(self):
        with transaction.atomic():
            result = tasks.add.enqueue(1)
            self.assertIsNotNone(result.enqueued_at)
            self.assertEqual(result.status, READY)
            self.assertEqual(tasks.add.get_result(result.id), result)

    def test_errors_of_unknown_classes(self):
        result = ran(tasks.fail, "no")

        for path, expected in (("subprocess.run", ValueError), ("does.not.exist", ImportError)):
            object.__setattr__(result.errors[0], "exception_class_path", path)
            with self.assertRaises(expected):
                _ = result.errors[0].exception_class


def ran(one, *args, **kwargs):
    result = one.enqueue(*args, **kwargs)
    run_due()
    return one.get_result(result.id)


READY, FAILED, SUCCESSFUL = TaskResultStatus.READY, TaskResultStatus.FAILED, TaskResultStatus.SUCCESSFUL
LOGGER: logging.Logger = interface.logger
