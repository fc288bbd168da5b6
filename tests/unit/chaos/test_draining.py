"""What drained workers did is judged rightly: a start meanwhile is seen, and one that never takes anything again."""

import pytest

from chaos.draining import HEARS_SECONDS, Drained, Started, wrong_drains

DRAINED = [Drained("a:1", 10.0, 18.0), Drained("b:2", 20.0, 28.0)]
GOOD = [Started("a:1", 9.0), Started("a:1", 10.0 + HEARS_SECONDS - 0.1), Started("b:2", 15.0), Started("a:1", 18.2)]
GOOD += [Started("a:1", 25.0), Started("b:2", 30.0)]


def found(*more: Started, drains=DRAINED) -> list[str]:
    return list(wrong_drains(drains, [*GOOD, *more]))


def test_starts_before_they_have_heard_of_it_and_after_they_were_taken_back_are_right():
    assert found() == []


@pytest.mark.parametrize("at", [10.0 + HEARS_SECONDS + 0.1, 17.9])
def test_a_start_while_the_worker_is_drained_is_seen(at):
    assert found(Started("a:1", at)) == ["1 batches were started by a:1 while it was drained"]


def test_a_worker_that_is_left_drained_or_idle_and_a_run_without_any_are_seen():
    assert found(drains=[Drained("a:1", 10.0)]) == ["a:1 was not taken back"]
    assert found(drains=[Drained("b:2", 31.0, 39.0)]) == ["b:2 started nothing after it was taken back"]
    assert found(drains=[]) == ["no worker was ever drained"]
