"""Two workers that start batches of a tenant whose breaker is open, in both orders, committed and rolled back."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db.models.functions import Now

from tasks_app.engine.beat.safeguards import pulse
from tasks_app.engine.beat.safeguards.guard import guard
from tasks_app.lifecycle.scopes import held_back
from tasks_app.lifecycle.start import StartedBatch, start
from tasks_app.models import Curb, CurbPermit, ScopeMinute, ScopeOutcome
from tests.support.engine import claim_due
from tests.support.marks import commits
from tests.support.overlap import overlap
from tests.support.safeguards import PATIENT, look, many, ran, watched

pytestmark = commits


@pytest.fixture(autouse=True)
def _watched(settings, monkeypatch):
    settings.PUNCTUAL = settings.PUNCTUAL | PATIENT
    monkeypatch.setattr(pulse, "SETTLED_SECONDS", 0.0)
    watched()


@pytest.fixture
def batches() -> list[StartedBatch]:
    """Two started batches of one task each, and then the breaker of their tenant opens: one trial may begin."""
    begun = []
    for _ in range(2):
        many("T_PLAIN", 1, tenant="acme")
        [batch] = claim_due()
        begun.append(start(UUID(batch.batch_no), "worker"))
    ran("T_PLAIN", failed=20, tenant="acme")
    look()
    Curb.objects.update(filled_at=Now() - timedelta(seconds=60))
    return begun


def asked(batch: StartedBatch) -> int:
    """How many of its tasks may run."""
    return len(batch.tasks) - len(held_back(batch.batch_no, {"T_PLAIN": batch.tasks}))


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_batches_one_gets_the_trial(batches, commit):
    first, second = overlap(lambda: asked(batches[0]), lambda: asked(batches[1]), commit=commit)

    assert (first, second) == ((1, 0) if commit else (1, 1))
    assert sum(CurbPermit.objects.values_list("tasks", flat=True)) == 1


@pytest.mark.parametrize("commit", [True, False])
def test_what_is_noted_during_a_look_is_added_up_by_one_look(commit):
    ran("T_PLAIN", failed=3, tenant="acme")

    overlap(lambda: ran("T_PLAIN", failed=2, tenant="acme"), guard)
    overlap(guard, lambda: ran("T_PLAIN", failed=4, tenant="acme"), commit=commit)
    guard()

    assert sum(ScopeMinute.objects.values_list("failed", flat=True)) == 9
    assert ScopeOutcome.objects.count() == 0
