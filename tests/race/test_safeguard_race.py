"""Two beats that look at the safeguards at the same time, one that dies on the way, and orders that come meanwhile."""

import pytest

from tasks_app.engine.beat.safeguards import pulse
from tasks_app.engine.beat.safeguards.guard import guard
from tasks_app.engine.operations.safeguards import end, forbid, force
from tasks_app.models import Curb, Pulse, Safeguard, SafeguardIncident
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.overlap import overlap
from tests.support.safeguards import PATIENT, ran, watched

pytestmark = commits


@pytest.fixture(autouse=True)
def _watched(settings, monkeypatch):
    settings.PUNCTUAL = settings.PUNCTUAL | PATIENT
    monkeypatch.setattr(pulse, "SETTLED_SECONDS", 0.0)
    watched()


def counted() -> int:
    return sum(one.ok + one.failed for one in Pulse.objects.all())


def test_of_two_that_look_one_decides_and_each_batch_counts_once():
    ran("T_PLAIN", ok=5, failed=16)

    first, second = overlap(guard, guard)

    assert (first.began, second) == (1, None)
    assert (counted(), SafeguardIncident.objects.count(), Curb.objects.count()) == (21, 1, 1)
    guard()
    assert (counted(), SafeguardIncident.objects.count()) == (21, 1)


def test_one_that_dies_has_changed_nothing_and_the_next_goes_on():
    ran("T_PLAIN", ok=5, failed=16)

    overlap(guard, guard, commit=False)
    assert (counted(), Safeguard.objects.count(), Curb.objects.count()) == (0, 0, 0)

    assert guard().began == 1
    assert (counted(), SafeguardIncident.objects.count(), Curb.objects.count()) == (21, 1, 1)


@pytest.mark.parametrize("commit", [True, False])
def test_an_order_that_comes_during_a_look_is_not_lost(commit):
    ran("T_PLAIN", ok=5, failed=16)
    guard()

    overlap(guard, lambda: forbid("breaker", operator(), subject="tenant:default/T_PLAIN"), commit=commit)
    row = Safeguard.objects.get()
    assert (row.order, row.stage) == ("forbid", 2)

    guard()
    row.refresh_from_db()
    assert (row.order, row.stage, Curb.objects.count()) == ("forbid", 0, 0)


@pytest.mark.parametrize(("commit", "stage"), [(True, 0), (False, 2)])
def test_a_look_that_comes_during_an_order_waits_for_it(commit, stage):
    ran("T_PLAIN", ok=5, failed=16)
    guard()

    overlap(lambda: forbid("breaker", operator(), subject="tenant:default/T_PLAIN"), guard, commit=commit)

    assert Safeguard.objects.get().stage == stage


@pytest.mark.parametrize("commit", [True, False])
def test_an_order_for_one_that_has_no_row_yet_and_a_look_that_makes_it(commit):
    ran("T_PLAIN", ok=5, failed=16)

    overlap(guard, lambda: force("breaker", operator(), subject="tenant:default/T_PLAIN", stage=1), commit=commit)
    guard()

    assert [(row.order, row.stage) for row in Safeguard.objects.all()] == [("force", 1)]
    end("breaker", operator(), subject="tenant:default/T_PLAIN")
    guard()
    assert Curb.objects.count() == 0
