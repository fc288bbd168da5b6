"""The wheel gives back what is due, all of it, in time and once."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_app.conf import from_settings
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.wheel import Wheel

moments = st.floats(min_value=1_800_000_000, max_value=1_800_000_004, allow_nan=False)


@given(st.lists(moments, max_size=50), st.lists(moments, max_size=10))
def test_every_entry_comes_out_once_and_not_before_its_moment(dues, looks):
    wheel = Wheel()
    wheel.fill(list(zip(dues, range(len(dues)), strict=True)))
    out: list[int] = []
    for now in [*sorted(looks), 1_800_000_005]:
        popped = wheel.pop(now)
        assert all(dues[id_] <= now for id_ in popped)
        out += popped
        assert wheel.next_due is None or wheel.next_due > now
        assert sorted(out) == sorted(id_ for id_, due in enumerate(dues) if due <= now)
    assert len(wheel) == 0


def test_what_shares_a_slot_comes_out_at_its_own_moment():
    wheel = Wheel()
    wheel.fill([(10.0002, 1), (10.0006, 2)])

    assert wheel.pop(10.0004) == [1]
    assert (wheel.next_due, len(wheel)) == (10.0006, 1)
    assert wheel.pop(10.0006) == [2]


def test_filling_it_anew_forgets_what_was_in_it():
    wheel = Wheel()
    wheel.fill([(10.0, 1)])
    wheel.fill([(10.0, 2), (11.0, 3)])

    assert (wheel.next_due, len(wheel)) == (10.0, 2)
    assert wheel.pop(10.5) == [2]


@pytest.mark.parametrize("seconds", [0.5, 1, 5])
def test_reading_ahead_reaches_beyond_the_next_look_and_not_around_the_wheel(seconds):
    with pytest.raises(InvalidConfiguration, match=re.escape("Set it to twice LOOK_SECONDS, or to 0")):
        from_settings({"READ_AHEAD_SECONDS": seconds})
