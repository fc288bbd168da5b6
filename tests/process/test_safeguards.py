"""Safeguards of a real beat go on and off again, as real workers run what it gives them: what is late, what fails, and
what dies."""

import json

import pytest
from django.db import connection

from django_punctual import reschedule, schedule, schedule_many
from tasks_app.models import Curb, SafeguardIncident, ScheduleTask
from tests.support.processes import wait_begun, wait_for
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
    scope = "tenant:default/T_PLAIN"
    held = Curb.objects.filter(name="dead_letters", subject=scope, kind="type", target="T_PLAIN", max_running=0)
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
    assert (incident.subject, incident.closed_at is not None, held.exists()) == (scope, True, False)


# Within seconds instead of minutes. How late tasks started is a figure of two minutes, so that alone is left out.
QUICK = {
    "delay": {"limit": 500, "sample": 1_000_000, "on_seconds": 0.1, "off_seconds": 0.2},
    "failures": {"limit": 0.6, "sample": 30, "on_seconds": 0, "off_seconds": 0.2},
    "breaker": {"limit": 0.5, "sample": 20, "off_seconds": 0.2, "trial_seconds": 1},
}
FAILS = {"do": "retry", "after": 3600}
FAILS_ONCE = {"do": "retry_until", "attempt": 2, "after": 0}
WAITING = ("T_ASYNC", "T_BATCH", "T_CLOSED", "T_EFFECT", "T_LOGS", "T_QUIET", "T_THREADS")
KNOWN_SECONDS = 4  # by then a beat goes by a curb that was put there: it looks every two seconds


@pytest.mark.scale  # most of a minute, since beats look every two seconds and count what ended two seconds ago
def test_delay_failures_and_breaker_go_on_and_off_and_on_and_off_again_by_what_runs(stack):
    """Nothing is moved or forced here: what tasks do switches them on, and off."""
    stack.beat(TEST_SAFEGUARDS=json.dumps(QUICK), TEST_SAFEGUARD_SECONDS="0.2")
    stack.worker(1, "default")
    stack.worker(1, "critical,low")

    # Of T_QUIET less than 60 % succeed, but not so few that its breaker opens; then more than 80 %.
    wait_for(stack, *some("T_QUIET", "at first", 30))
    for time, failing, well in ((1, 22, 90), (2, 65, 290)):
        while_tries_fail(stack, time, failing, well)
        while_tasks_are_late(stack, time)
    ended = SafeguardIncident.objects.filter(closed_at__isnull=False).values_list("name", "subject")
    for one in (("delay", ""), ("failures", "tenant:default/T_QUIET"), ("breaker", "tenant:default/T_PLAIN")):
        assert list(ended).count(one) >= 2


def while_tries_fail(stack, time: int, failing: int, well: int) -> None:
    """Retries of one type are slowed, and of another, which always fails, one task at a time is tried."""
    some("T_QUIET", f"fails {time}", failing, payload=FAILS)
    some("T_PLAIN", f"fails {time}", 10 + 10 * time, payload=FAILS)
    slowed = Curb.objects.filter(name="failures", kind="retries", target="T_QUIET")
    tried = Curb.objects.filter(name="breaker", kind="type", target="T_PLAIN")
    wait_until(lambda: slowed.exists() and tried.filter(max_running=1).exists(), 30, describe=stack.logs)

    later = {"delay": KNOWN_SECONDS}
    again = ScheduleTask.objects.filter(id__in=some("T_QUIET", f"again {time}", 8, payload=FAILS_ONCE, **later))
    trials = ScheduleTask.objects.filter(id__in=some("T_PLAIN", f"trials {time}", 20, **later))
    new = [*some("T_QUIET", f"new {time}", 5, **later), *some("T_CLOSED", f"new {time}", 5, **later)]
    wait_until(lambda: again.filter(retry_count=1).count() == 8, 30, describe=stack.logs)
    wait_for(stack, *new)
    assert again.exclude(status="SUCCESS").count() >= 4  # some may come, one by one
    assert trials.filter(status="INIT", attempt=0).exists()

    some("T_QUIET", f"well {time}", well)
    wait_until(lambda: not slowed.exists() and not tried.exists(), 60, describe=stack.logs)
    ids = [*again.values_list("id", flat=True), *trials.values_list("id", flat=True)]
    wait_for(stack, *ids)
    assert set(trials.values_list("status", "retry_count")) == {("SUCCESS", 0)}


def while_tasks_are_late(stack, time: int) -> None:
    """The only slot is taken, and there are more types than batches that may wait for it: what is left is late."""
    paused = Curb.objects.filter(name="delay", kind="lane", target="low", rate=0)
    long = schedule("T_LONG", f"long {time}", payload={"do": "until_cancelled"})
    wait_begun(stack, long.task_id)
    late = [schedule(one, f"late {time}").task_id for one in WAITING]
    wait_until(paused.exists, 30, describe=stack.logs)

    later = {"delay": KNOWN_SECONDS}
    low = ScheduleTask.objects.filter(id__in=some("T_CLOSED", f"low {time}", 5, lane="low", **later))
    wait_for(stack, *some("T_URGENT", f"urgent {time}", 3, **later))
    assert set(low.values_list("status", "attempt")) == {("INIT", 0)}

    reschedule("T_LONG", f"long {time}", delay=0, payload={})
    wait_for(stack, *late, *low.values_list("id", flat=True))
    assert not paused.exists()
    wait_until(lambda: not Curb.objects.filter(name="delay").exists(), 30, describe=stack.logs)
