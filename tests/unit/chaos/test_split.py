"""What is done on a primary after its standby was promoted is found; that nobody tried proves nothing."""

import pytest

from chaos.split import Alone, wrong_alone


def test_a_primary_on_which_all_wait_for_their_commits_has_done_nothing():
    assert wrong_alone(Alone(started=0, settled=0, written=0, waiting=3)) == []


@pytest.mark.parametrize(
    ("alone", "words"),
    [
        (Alone(1, 0, 0, waiting=2), "1 batches were started"),
        (Alone(0, 2, 0, waiting=2), "2 batches were settled"),
        (Alone(0, 0, 3, waiting=0), "3 tasks changed"),
        (Alone(0, 0, 0, waiting=0), "nobody tried"),
    ],
)
def test_what_anybody_can_see_there_is_said(alone, words):
    [found] = wrong_alone(alone)

    assert found.startswith(words)
