"""The mover: what is over leaves the table of what is live, whole and once, and nothing else does."""

import time
from datetime import timedelta

import pytest
from django.db import connection

from django_punctual import cancel, find, history, reschedule, schedule, schedule_many
from tasks_app.core.errors import QuotaExceeded
from tasks_app.engine.beat import mover
from tasks_app.engine.beat.mover import move
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.lifecycle.anywhere import tasks_by_id
from tasks_app.lifecycle.past import move_strays
from tasks_app.models import AnyTask, PastBatch, PastTask, ScheduleTask, TaskBatch, Tenant
from tests.support.engine import make_due, run_due
from tests.support.marks import commits
from tests.support.moves import FINAL, SKIP, TUESDAY, TYPE, ids_of, settled, started

pytestmark = commits


@pytest.fixture(autouse=True)
def _from_the_first_id(monkeypatch):
    monkeypatch.setattr(mover, "WALK_EVERY_SECONDS", 0)
    monkeypatch.setattr(mover, "REST_SECONDS", 0)
    mover._walked_to = 0
    yield
    assert_consistent()


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def grow_old(seconds: int = 3600) -> None:
    """As if all that has happened had happened so long before."""
    execute(f"UPDATE punctual_task SET updated_at = updated_at - interval '{seconds} s'")
    execute(f"UPDATE punctual_batch SET finished_at = finished_at - interval '{seconds} s'")


def test_what_is_over_goes_and_the_rest_stays():
    done, dead = schedule(TYPE, "done").task_id, schedule(TYPE, "dead", payload={"do": "die"}).task_id
    rolling = schedule(TYPE, "rolling", repeat_after=60).task_id
    run_due()
    waiting = schedule(TYPE, "waiting", at=TUESDAY).task_id
    cancelled = schedule(TYPE, "cancelled", at=TUESDAY).task_id
    cancel(TYPE, "cancelled")
    grow_old()
    fresh = schedule(TYPE, "fresh").task_id
    run_due()

    moved = move()

    assert set(PastTask.objects.values_list("id", flat=True)) == {done, cancelled}
    assert set(ScheduleTask.objects.values_list("id", flat=True)) == {dead, rolling, waiting, fresh}
    assert (moved.tasks, moved.strays, TaskBatch.objects.count()) == (1, 1, 1)
    assert PastBatch.objects.count() == moved.batches


def test_a_tenant_that_has_all_it_may_have_can_give_what_is_in_the_past_another_time():
    Tenant.objects.create(name="acme", max_tasks=1, tasks=1, at_limit=True)
    for key in ("moved", "there"):
        schedule(TYPE, key, at=TUESDAY)
    ScheduleTask.objects.update(tenant="acme")
    for key in ("moved", "there"):
        cancel(TYPE, key, tenant="acme")
    execute("UPDATE punctual_task SET updated_at = updated_at - interval '1 h' WHERE biz_key = 'moved'")
    move()
    assert PastTask.objects.count() == 1

    for key in ("moved", "there"):
        assert reschedule(TYPE, key, tenant="acme", delay=60).outcome == "CREATED"
    with pytest.raises(QuotaExceeded):
        reschedule(TYPE, "new", tenant="acme", delay=60)


def test_a_row_is_in_the_past_as_it_was():
    task_id = schedule("T_PLAIN", "a", payload={"do": "retry_until", "attempt": 2}, idem_key="k", lane="high").task_id
    run_due()
    make_due(task_id)
    run_due()
    grow_old()
    fields = [field.name for field in AnyTask._meta.fields if field.name not in ("retention", "worker")]
    before = ScheduleTask.objects.values(*fields).get()

    move()

    assert AnyTask.objects.values(*fields).get() == before
    past = PastTask.objects.get()
    assert (past.retention, past.worker) == ("default", PastBatch.objects.get(batch_no=past.ran_in).worker)
    assert past.worker


def test_a_task_that_ran_again_goes_with_its_last_batch():
    batch = started("a", "b")
    settled(batch, SKIP, only="a", finish=False)
    settled(batch, only="b")
    first = ScheduleTask.objects.get(biz_key="a").ran_in
    execute("UPDATE punctual_batch SET finished_at = finished_at - interval '1 hour'")

    assert move().tasks == 0  # both were written to after that batch ended, as a retry would have been

    execute("UPDATE punctual_task SET updated_at = updated_at - interval '1 hour'")
    move()
    assert {row.ran_in for row in PastTask.objects.all()} == {first}


def test_a_dead_task_goes_when_another_took_over_from_it():
    settled(batch := started("a"), FINAL)
    grow_old()
    assert move().strays == 0
    newer = schedule(TYPE, "a", at=TUESDAY).task_id
    grow_old()

    move()

    assert [row.id for row in PastTask.objects.all()] == ids_of(batch)
    assert ScheduleTask.objects.get().replaces == ids_of(batch)[0]
    assert [task.id for task in history(TYPE, "a")[0]] == [newer, *ids_of(batch)]


def test_much_is_moved_in_steps_and_a_run_ends_in_time():
    for part in range(0, 95, 8):
        schedule_many(TYPE, [{"key": n} for n in range(part, min(part + 8, 95))])
        run_due()
    grow_old()

    assert move(seconds=0.0, walk_seconds=0.0) == (0, 0, 0)
    steps = 0
    while ScheduleTask.objects.exists():
        mover.move_batches(batches=2, tasks=10)
        steps += 1
        assert steps < 50

    assert steps > 3
    assert PastTask.objects.count() == 95


def test_a_mover_that_falls_behind_rests_less():
    assert mover.move_batches().late is None
    schedule(TYPE, "a")
    run_due()
    grow_old()

    late = mover.move_batches().late

    assert 2_900 < late < 3_600  # of the hour, ten minutes are those of KEEP_LIVE_SECONDS
    assert [mover.rest(0.2, behind) for behind in (0.0, 15.0, late)] == [0.2, 0.1, 0.0]


def test_a_step_of_the_walk_looks_ahead_and_moves_from_the_first_that_is_over_on():
    first, second, over, last = (schedule(TYPE, key, at=TUESDAY).task_id for key in "abcd")
    cancel(TYPE, "c")
    grow_old()

    assert move_strays(0, ahead=2) == (second, 0)
    assert move_strays(first - 1, ahead=3) == (last, 1)
    assert set(PastTask.objects.values_list("id", flat=True)) == {over}
    assert move_strays(last) == (None, 0)


def test_the_walk_comes_around():
    for key in "abc":
        schedule(TYPE, key, at=TUESDAY)
        cancel(TYPE, key)
    grow_old()
    mover._walked_to = ScheduleTask.objects.order_by("-id")[0].id

    assert move().strays == 3


def test_the_walk_goes_on_at_once_only_where_it_found_many(monkeypatch):
    monkeypatch.setattr(mover, "WALK_EVERY_SECONDS", 3600)
    monkeypatch.setattr(mover, "REST_SECONDS", 3600)
    monkeypatch.setattr(mover, "MANY", 3)
    monkeypatch.setattr(mover, "_walked_at", float("-inf"))

    def moved(*keys: str) -> int:
        for key in keys:
            schedule(TYPE, key, at=TUESDAY)
            cancel(TYPE, key)
        grow_old()
        return move().strays

    assert [moved("a", "b", "c"), moved("d"), moved("e")] == [3, 1, 0]


def test_after_a_round_that_found_nothing_the_walk_rests_for_longer(monkeypatch):
    monkeypatch.setattr(mover, "WALK_EVERY_SECONDS", 60)
    monkeypatch.setattr(mover, "REST_SECONDS", 300)

    def due_after(seconds: float) -> bool:
        monkeypatch.setattr(mover, "_walked_at", time.monotonic() - seconds)
        return mover.walk_is_due()

    for strays in (0, 1, 0):
        for key in range(strays):
            schedule(TYPE, key, at=TUESDAY)
            cancel(TYPE, key)
        grow_old()
        monkeypatch.setattr(mover, "_walked_at", float("-inf"))

        assert move().strays == strays
        assert due_after(mover.WALK_EVERY_SECONDS) is bool(strays)
        assert due_after(mover.REST_SECONDS)


def test_what_was_over_long_ago_gets_the_partitions_that_it_needs():
    for key, days in (("a", 5), ("b", 3), ("c", 40)):
        schedule(TYPE, key)
        run_due()
        grow_old(60 * 60 + days * 86_400)

    move()

    assert PastTask.objects.count() == 3
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT tableoid) FROM punctual_past")
        assert cursor.fetchone() == (3,)


def test_a_class_has_partitions_of_its_own(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"RETENTION": {"brief": {"hot_days": 2, "tenants": ["acme"]}}}
    schedule(TYPE, "a", tenant="acme")
    schedule(TYPE, "b")
    run_due()
    grow_old()

    move()

    assert set(PastTask.objects.values_list("biz_key", "retention")) == {("a", "brief"), ("b", "default")}
    assert find(TYPE, "a", tenant="acme").status == "SUCCESS"


def test_after_the_hot_time_a_unit_is_new(settings):
    schedule(TYPE, "a", idem_key="k")
    run_due()
    grow_old()
    move()
    assert (find(TYPE, "a").status, reschedule(TYPE, "a", at=TUESDAY).outcome) == ("SUCCESS", "IGNORED")
    assert schedule(TYPE, "b", at=TUESDAY, idem_key="k").outcome == "EXISTS"

    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_HOT_DAYS": 3000 / 86_400}

    assert find(TYPE, "a") is None
    assert reschedule(TYPE, "a", at=TUESDAY).outcome == "CREATED"
    assert schedule(TYPE, "b", at=TUESDAY, idem_key="k").outcome == "CREATED"
    assert PastTask.objects.count() == 1


def test_times_of_a_task_in_the_past_are_told_as_before():
    schedule(TYPE, "a")
    run_due()
    before = find(TYPE, "a")
    grow_old()
    move()
    after = find(TYPE, "a")

    assert after.start_time == before.start_time
    assert after.late == before.late
    assert after.updated_at == before.updated_at - timedelta(hours=1)


def test_a_row_of_the_past_has_the_same_fields_however_it_is_read():
    (task_id,) = ids_of(batch := started("a", payload={"n": [1, None]}, expires_after=60, idem_key="order-1"))
    settled(batch)
    grow_old()
    move()

    row, same = tasks_by_id([task_id])[task_id], PastTask.objects.get(id=task_id)

    fields = [field.attname for field in PastTask._meta.concrete_fields]
    assert {name: getattr(row, name) for name in fields} == {name: getattr(same, name) for name in fields}
    assert not row._state.adding
