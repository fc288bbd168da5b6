"""A repair beside those whose rows it is about: it looks again under their locks, and takes nothing from anybody."""

from uuid import UUID

import pytest

from tasks_app.database import atomic
from tasks_app.engine.doctor.checks import check_named
from tasks_app.engine.doctor.examine import examine
from tasks_app.engine.doctor.treat import treat
from tasks_app.lifecycle.reap import rescue_stranded
from tasks_app.lifecycle.start import start
from tasks_app.models import TaskBatch
from tasks_app.sql import execute
from tests.support.engine import claim_due
from tests.support.marks import commits
from tests.support.moves import ids_of, settled, started, state
from tests.support.operators import operator
from tests.support.overlap import overlap

pytestmark = commits


@pytest.fixture
def stranded() -> int:
    """RUNNING, and its batch is finished, as nothing of ours leaves it."""
    batch = started("a")
    execute("UPDATE punctual_batch SET finished_at = clock_timestamp()")
    return ids_of(batch)[0]


def found():
    [finding] = examine([check_named("running")], wait=lambda seconds: None)
    return finding


def rescued_and_claimed() -> UUID:
    """Somebody else found it first, and a beat has claimed it anew."""
    rescue_stranded()
    [batch] = claim_due()
    return UUID(batch.batch_no)


@pytest.mark.parametrize("commit", [True, False])
def test_what_was_rescued_and_claimed_meanwhile_stays_with_its_new_batch(stranded, commit):
    finding = found()

    batch, treated = overlap(rescued_and_claimed, lambda: treat(finding, operator(), dry_run=False), commit=commit)

    assert treated.mended == ([] if commit else [stranded])
    assert state(stranded).status == ("RUNNING" if commit else "INIT")
    if commit:
        assert settled(start(batch, "worker")) == 1
    assert treated.left == []


def test_a_repair_that_came_first_is_seen_by_the_claim(stranded):
    finding = found()

    def mend():
        with atomic():
            return treat(finding, operator(), dry_run=False)

    treated, claimed = overlap(mend, claim_due)

    assert (treated.mended, claimed) == ([stranded], [])  # it was locked, so it is claimed by the next look
    assert len(claim_due()) == 1
    assert TaskBatch.objects.filter(finished_at__isnull=True).count() == 1
