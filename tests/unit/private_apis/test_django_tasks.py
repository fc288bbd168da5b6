"""What we use of django.tasks, and of the package django-tasks, without a promise."""

from dataclasses import fields

import pytest

from tasks_app.django_tasks.interface import TaskResult, task_finished


def test_django_keeps_the_fields_of_a_task_result_in_slots():
    result = object.__new__(TaskResult)

    assert "_return_value" in {one.name for one in fields(TaskResult)}
    with pytest.raises(AttributeError):
        _ = result.errors
    object.__setattr__(result, "errors", [])
    assert result.errors == []


def test_django_lists_the_receivers_of_a_signal_and_connects_one_that_logs():
    assert len(task_finished.receivers) == 1
