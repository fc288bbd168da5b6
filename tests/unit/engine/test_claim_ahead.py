"""How far before their due time tasks are claimed, and which later ones a claim includes."""

import pytest

from tasks_app.engine.beat.claim_ahead import CLOCK_MARGIN_SECONDS, MOST_SECONDS, ClaimAhead


@pytest.fixture
def ahead():
    """A claim takes a millisecond, a batch two on its way to the worker, and a round of the beat five."""
    made = ClaimAhead()
    made.note_way(0.002)
    for _ in range(100):
        made.note_claim(0.001)
        made.note_round(0.005)
    return made


def test_a_claim_includes_what_is_due_within_two_rounds(ahead):
    assert ahead.seconds == pytest.approx(0.004)
    assert ahead.horizon(late=0.0) == pytest.approx(0.004 + 0.010 + CLOCK_MARGIN_SECONDS)


def test_the_later_the_first_task_is_the_fewer_are_included(ahead):
    assert ahead.horizon(late=0.006) == pytest.approx(0.004 + 0.004 + CLOCK_MARGIN_SECONDS)
    assert ahead.horizon(late=60.0) == pytest.approx(0.004 + CLOCK_MARGIN_SECONDS)


def test_a_slow_machine_does_not_claim_further_ahead_than_a_slot_may_wait(ahead):
    ahead.note_round(60.0)
    ahead.note_claim(60.0)

    assert ahead.horizon(late=0.0) <= MOST_SECONDS + CLOCK_MARGIN_SECONDS
