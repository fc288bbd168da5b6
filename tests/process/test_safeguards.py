"""A real beat holds a type back whose tasks die, another lets it go, and what waited runs in a real worker."""

import json

from django.db import connection

from tasks_app.client import schedule_many
from tasks_app.models import Curb, SafeguardIncident, ScheduleTask
from tests.support.processes import wait_for
from tests.support.wait import wait_until

# The type alone is held while more than five died within a minute, and until that was not so for a second.
RULES = {"dead_letters": {"limit": 5, "off_seconds": 1}, "breaker": {"mode": "off"}, "failures": {"mode": "off"}}


def some(task_type: str, word: str, number: int, **options) -> list[int]:
    tasks = [{"key": f"{word} {n}"} for n in range(number)]
    return [one.task_id for one in schedule_many(task_type, tasks, **options)]


def test_a_type_that_dies_is_held_by_one_beat_which_is_killed_and_let_go_by_the_next(stack):
    rules = {"TEST_SAFEGUARDS": json.dumps(RULES), "TEST_SAFEGUARD_SECONDS": "0.2"}
    first = stack.beat(**rules)
    stack.worker()
    some("T_PLAIN", "bad", 8, payload={"do": "die"})
    held = Curb.objects.filter(name="dead_letters", subject="T_PLAIN", kind="type", target="T_PLAIN", max_running=0)
    wait_until(held.exists, 30, describe=stack.logs)
    with connection.cursor() as cursor:  # however long the next steps take, they died within the last minute
        cursor.execute("UPDATE punctual_dead_letter SET created_at = created_at + interval '5 minutes'")
    first.kill()
    waiting, others = some("T_PLAIN", "good", 5), some("T_QUIET", "good", 5)

    stack.beat(**rules)
    wait_for(stack, *others)
    rows = ScheduleTask.objects.filter(id__in=waiting)
    assert set(rows.values_list("status", "attempt")) == {("INIT", 0)}

    with connection.cursor() as cursor:  # minutes later
        cursor.execute("UPDATE punctual_dead_letter SET created_at = created_at - interval '10 minutes'")
    wait_for(stack, *waiting)
    assert set(rows.values_list("status", "retry_count")) == {("SUCCESS", 0)}
    [incident] = SafeguardIncident.objects.all()
    assert (incident.subject, incident.closed_at is not None, held.exists()) == ("T_PLAIN", True, False)
