"""The witness of curbs can be believed: what ran although it was held back is seen, and so is a curb that is left."""

import pytest

from chaos.curbs import READ_SECONDS, Claim, Stretch, wrong_curbs

LANE = Stretch("lane", "low", 0.0, None, 100.0, 120.0)
TYPE = Stretch("type", "T", None, 0, 100.0, 120.0)
TRIAL = Stretch("type", "U", 0.2, 1, 100.0, 120.0)
GOOD = [
    LANE,
    TYPE,
    TRIAL,
    Stretch("retries", "R", 0.1, None, 100.0, 120.0),
    Stretch("triggers", "*", None, None, 100.0, 120.0),
    Stretch("type", "V", 0.2, 1, 100.0, 120.0, "acme"),
]
LATER = 100.0 + READ_SECONDS + 0.1


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        (Claim("low", "X", 3, LATER), 1),
        (Claim("low", "X", 3, 101.0), 0),  # by a beat that has not read it yet
        (Claim("low", "X", 3, 120.1), 0),
        (Claim("high", "X", 3, LATER), 0),
        (Claim("high", "T", 1, LATER), 1),
        (Claim("high", "T", 1, 99.0), 0),
        (Claim("high", "U", 6, LATER), 0),  # two, and one in five seconds
        (Claim("high", "U", 7, LATER), 1),
        (Claim("high", "V", 900, LATER, 6, LATER), 0),  # the others were sent back
        (Claim("high", "V", 900, LATER, 7, LATER), 1),
        (Claim("high", "V", 900, LATER, 7, 120.1), 0),
        (Claim("high", "R", 50, LATER), 0),
    ],
)
def test_what_ran_although_it_was_held_back_is_seen(claim, wrong):
    assert len(list(wrong_curbs(GOOD, [claim]))) == wrong


def test_a_curb_that_is_left_and_an_incident_that_is_open_are_told():
    left = list(wrong_curbs([*GOOD, LANE._replace(end=None)], [], ["the incident of delay"]))

    assert left == ["a curb is left: lane low", "the incident of delay has not ended"]


@pytest.mark.parametrize("place", range(len(GOOD)))
def test_a_run_in_which_one_kind_held_nothing_back_is_told(place):
    [told] = wrong_curbs([one for one in GOOD if one != GOOD[place]], [])

    what = "of one tenant" if GOOD[place].of_tenant else f"by a curb on {GOOD[place].kind}"
    assert told.startswith(f"nothing was held back {what}")
