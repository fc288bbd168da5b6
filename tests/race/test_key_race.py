"""Keys of tenants against what is written and read at the same time."""

import pytest
from django.utils import timezone

from django_punctual import reschedule
from tasks_app.lifecycle import key_walk, tenant_keys, tenants
from tasks_app.models import KeyWalk, ScheduleTask, TenantKey
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.moves import TYPE, scheduled
from tests.support.operators import operator
from tests.support.overlap import overlap

pytestmark = commits

HIDDEN = "T_HIDDEN"


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_that_need_the_first_key_one_makes_it(commit):
    overlap(
        lambda: scheduled("a", task_type=HIDDEN, tenant="acme"),
        lambda: scheduled("b", task_type=HIDDEN, tenant="acme"),
        commit=commit,
    )

    assert TenantKey.objects.filter(encrypts=True).count() == 1
    run_due()
    assert {one.status for one in ScheduleTask.objects.all()} == {"SUCCESS"}


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("first", ["rotate", "schedule"])
def test_what_is_scheduled_beside_a_rotation_opens(commit, first):
    scheduled("before", task_type=HIDDEN, tenant="acme")
    sides = [lambda: tenant_keys.rotate("acme", operator()), lambda: scheduled("a", task_type=HIDDEN, tenant="acme")]
    overlap(*(sides if first == "rotate" else sides[::-1]), commit=commit)

    run_due()

    assert {one.status for one in ScheduleTask.objects.all()} == {"SUCCESS"}


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("first", ["rotate", "destroy"])
def test_a_key_is_destroyed_beside_a_rotation_and_no_dead_one_encrypts(commit, first):
    scheduled("before", task_type=HIDDEN, tenant="acme")
    sides = [lambda: tenant_keys.rotate("acme", operator()), lambda: tenant_keys.destroy("acme", operator())]
    overlap(*(sides if first == "rotate" else sides[::-1]), commit=commit)

    for key in TenantKey.objects.all():
        assert (key.sealed == "") is (key.destroyed_at is not None)
    assert TenantKey.objects.filter(encrypts=True).exclude(destroyed_at=None).count() == 0


@pytest.mark.parametrize("first", ["walk", "move"])
def test_a_task_that_somebody_moves_keeps_its_new_payload_and_comes_under_the_newest_key_later(first):
    tenants.create("acme", operator(), encrypted=True)
    scheduled("a", tenant="acme")
    made = tenant_keys.rotate("acme", operator())
    KeyWalk.objects.update(place=2)
    sides = [
        key_walk.step_walk,
        lambda: reschedule(TYPE, "a", at=timezone.now(), payload={"return": 7}, tenant="acme"),
    ]
    overlap(*(sides if first == "walk" else sides[::-1]))

    assert ScheduleTask.objects.get().payload.key == made.id
    run_due()
    assert ScheduleTask.objects.get().status == "SUCCESS"
