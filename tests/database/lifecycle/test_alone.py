"""One unit alone goes a shorter way than several together; what is written and told is the same."""

import pytest
from django.db import DataError

from django_punctual import ensure, ensure_many, reschedule, reschedule_many, schedule, schedule_many
from tasks_app.core.events import Event
from tasks_app.lifecycle import together
from tasks_app.lifecycle.alone import insert_over, replaced
from tasks_app.lifecycle.claim import return_batches
from tasks_app.lifecycle.decisions import Outcome
from tasks_app.lifecycle.request import build
from tasks_app.lifecycle.start import start
from tasks_app.models import AwayTask, DlqEntry, ScheduleTask, Tenant
from tests.support.alone import replace, seen
from tests.support.events import told
from tests.support.marks import commits
from tests.support.moves import (
    FINAL,
    MONDAY,
    RETRY,
    SKIP,
    TUESDAY,
    TYPE,
    away,
    claim_one,
    claimed,
    ids_of,
    rows_of,
    scheduled,
    settled,
    started,
    state,
)
from tests.support.refusing import refusing

pytestmark = commits

OPTIONS = {"lane": "critical", "max_retry": 5, "payload": {"n": 1}, "expires_after": 86_400}
FOUND = {
    "nothing": lambda key: None,
    "waiting": lambda key: scheduled(key, at=MONDAY, idem_key=key, **OPTIONS),
    "to be tried again": lambda key: settled(started(key, idem_key=key, **OPTIONS), RETRY),
    "claimed": lambda key: claimed(key, idem_key=key, **OPTIONS),
    "running": lambda key: started(key, idem_key=key, **OPTIONS),
    "away": lambda key: away(key, idem_key=key, **OPTIONS),
    "rolling": lambda key: settled(started(key, repeat_after=3600, payload={"n": 1})),
    "succeeded": lambda key: settled(started(key, idem_key=key, **OPTIONS)),
    "dead": lambda key: settled(started(key, idem_key=key, **OPTIONS), FINAL),
    "skipped": lambda key: settled(started(key, idem_key=key, **OPTIONS), SKIP),
}
VERBS = {
    "schedule": (schedule, schedule_many, {}),
    "reschedule": (reschedule, reschedule_many, {"by": "tess"}),
    "ensure": (ensure, ensure_many, {"by": "tess"}),
}


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("verb", VERBS)
def test_one_alone_becomes_what_one_of_several_does(verb, found):
    one, many, by = VERBS[verb]
    for key in ("alone", "with others"):
        FOUND[found](key)
        ScheduleTask.objects.filter(biz_key=key).update(solo=True)

    alone = one(TYPE, "alone", at=TUESDAY, **by)
    together, _ = many(TYPE, [{"key": "with others"}, {"key": "another"}], at=TUESDAY, **by)

    assert (alone.outcome, alone.due) == (together.outcome, together.due)
    assert written("alone", alone.task_id) == written("with others", together.task_id)


def written(key: str, current: int) -> dict[str, object]:
    """All that is known of a unit, without what is never the same twice."""
    rows = rows_of(key)
    assert rows[-1].id == current
    places = {task.id: place for place, task in enumerate(rows)}
    return {
        "rows": [_columns(task, places) for task in rows],
        "tokens": len({task.token for task in rows}),
        "letters": list(DlqEntry.objects.filter(task_id__in=places).values_list("replay_status", "closed_by")),
        "away": AwayTask.objects.filter(task__in=places).count(),
        "events": [_event(event, places) for event in told() if event.task in places],
    }


_ALIKE = ("status", "current", "lane", "solo", "limited", "attempt", "retry_count", "max_retry", "repeat_after")
_ALIKE += ("expires_after", "error_code", "error_msg", "cancelled_by", "payload")
_THERE = ("due_at", "allowed_at", "batch_no", "ran_in", "start_time", "finish_time", "claimed_due", "idem_key")


def _columns(task: ScheduleTask, places: dict[int, int]) -> list[object]:
    alike = [getattr(task, name) for name in _ALIKE]
    there = [getattr(task, name) is not None for name in _THERE]
    return [*alike, *there, task.execute_time == TUESDAY, places.get(task.replaces)]


def _event(event: Event, places: dict[int, int]) -> list[object]:
    data = event.data or {}
    alike = {name: value for name, value in data.items() if name in ("code", "reason", "by", "new")}
    moment = data.get("at") == TUESDAY.isoformat()
    common = [event.type, places[event.task], event.idem_key is not None, event.state]
    return [*common, sorted(data), alike, moment, places.get(data.get("replaces"))]


def test_a_run_that_is_not_the_one_that_was_seen_is_not_replaced():
    batch = claimed("a")
    before = seen("a")
    return_batches([str(batch)])
    [task] = ids_of(start(claim_one(), "worker"))
    running = state(task)

    assert (replace(before, Outcome.REPLACED), state(task)) == ([], running)
    assert len(replace(seen("a"), Outcome.REPLACED)) == 1


def test_what_is_over_makes_no_room_if_it_was_written_to_since_it_was_seen():
    task = over("a")
    before, request = seen("a"), build(TYPE, "a", at=TUESDAY)
    ScheduleTask.objects.filter(id=task).update(solo=True)

    assert (replace(before, Outcome.CREATED), insert_over(request, before, "tess")) == ([], None)
    assert (len(rows_of("a")), state(task).current) == (1, True)
    assert insert_over(request, seen("a"), "tess").outcome is Outcome.CREATED


@pytest.mark.parametrize("bring", [scheduled, started], ids=["waiting", "running"])
def test_nothing_that_is_live_makes_room_for_a_new_task(bring):
    bring("a", at=MONDAY) if bring is scheduled else bring("a")

    assert insert_over(build(TYPE, "a", at=TUESDAY), seen("a"), "tess") is None
    assert len(rows_of("a")) == 1


def over(key: str) -> int:
    batch = started(key)
    settled(batch)
    return ids_of(batch)[0]


def test_a_task_of_an_archived_tenant_is_not_retired_either():
    batch = started("a")
    Tenant.objects.update_or_create(name="default", defaults={"closed": True})

    assert (replace(seen("a"), Outcome.REPLACED), state(ids_of(batch)[0]).status) == ([], "RUNNING")


def test_an_instance_of_a_job_is_not_replaced_without_those_that_wait_for_it():
    [task] = ids_of(started("a"))
    ScheduleTask.objects.filter(id=task).update(job=1, fire_time=MONDAY)

    assert (replace(seen("a"), Outcome.REPLACED), state(task).status) == ([], "RUNNING")


def test_a_task_is_never_retired_without_a_successor():
    over("a")

    with refusing(1), pytest.raises(DataError, match="has no successor"):
        replace(seen("a"), Outcome.CREATED)

    assert [(task.status, task.current) for task in rows_of("a")] == [("SUCCESS", True)]


def test_an_app_can_name_no_parameter_of_its_own_like_one_of_a_replacement():
    started("a")

    assert replaced(seen("a"), Outcome.REPLACED, "tess").keys() == together.OF_REPLACED
