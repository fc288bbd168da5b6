"""What is refused while the database is slow, and when that ends: both ways round, and without flapping."""

import pytest

from tasks_app.core.shedding import BETTER_AFTER, Gauge, Knock, Level, Limits, Strain

LIMITS = Limits(ms=500.0, connections=0.9, in_flight=4)
CALM = Strain(Knock(3.0, used=0.2))


def level_of(ms: float = 3.0, used: float = 0.2, stuck: int = 0, *, reached: bool = True) -> Level:
    return Strain(Knock(ms, used, reached), stuck).level(LIMITS)


@pytest.mark.parametrize(
    ("strain", "level"),
    [
        ({}, Level.OPEN),
        ({"ms": 499.0}, Level.OPEN),
        ({"ms": 500.0}, Level.READS),
        ({"ms": 2_000.0}, Level.WRITES),
        ({"used": 0.89}, Level.OPEN),
        ({"used": 0.9}, Level.READS),
        ({"used": 0.95}, Level.WRITES),
        ({"stuck": 3}, Level.OPEN),
        ({"stuck": 400}, Level.READS),  # what they wait for may be something else
        ({"reached": False}, Level.WRITES),
    ],
)
def test_each_figure_has_its_limits(strain, level):
    assert level_of(**strain) is level


def fed(gauge: Gauge, *strains: Strain) -> list[Level]:
    return [gauge.feed(one, LIMITS) for one in strains]


def test_one_bad_knock_is_nothing_two_in_a_row_count():
    slow, gauge = Strain(Knock(600.0)), Gauge()
    assert fed(gauge, slow, CALM, slow, slow) == [Level.OPEN, Level.OPEN, Level.OPEN, Level.READS]


def test_it_ends_a_step_at_a_time_after_several_good_ones():
    gauge = Gauge()
    assert fed(gauge, *[Strain(Knock(9.0, reached=False))] * 2)[-1] is Level.WRITES
    found = fed(gauge, *[CALM] * 2 * BETTER_AFTER)
    assert found == [Level.WRITES] * 2 + [Level.READS] * 3 + [Level.OPEN]


@pytest.mark.parametrize("between", [Strain(Knock(499.0)), Strain(Knock(3.0, used=0.86)), Strain(Knock(3.0), stuck=3)])
def test_what_is_just_below_its_limit_changes_nothing(between):
    gauge = Gauge()
    fed(gauge, *[Strain(Knock(600.0))] * 2)
    assert set(fed(gauge, *[between] * 20)) == {Level.READS}
    assert set(fed(Gauge(), *[between] * 20)) == {Level.OPEN}


def test_nothing_is_refused_where_that_is_turned_off():
    gauge = Gauge()
    off = Limits(0.0, 0.9, 4)
    assert [gauge.feed(Strain(Knock(9_000.0, reached=False)), off) for _ in range(3)] == [Level.OPEN] * 3
