"""The partitions of the past: made ahead of time by whichever beat is there, dropped when they are too old."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import ProgrammingError, connection

from tasks_app.engine.beat.partitions import AHEAD, keep_partitions
from tasks_app.sql import run
from tasks_app.storage.partitions import Partition, _free, drop, make, partitions
from tests.support.marks import commits
from tests.support.overlap import overlap

pytestmark = commits
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
FAMILY = "punctual_past_default"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _none_at_first():
    for family in (FAMILY, "punctual_past_batch"):
        for one in partitions(family):
            drop(one)


def now() -> datetime:
    return run("clock", {})[0][0]


def of_the_past(names: list[str]) -> list[str]:
    return [name for name in names if name.startswith("punctual_past_")]


def test_those_of_now_and_the_next_days_are_made_once():
    made = of_the_past(keep_partitions().made)

    assert len(made) == 2 * (AHEAD + 1)
    assert keep_partitions() == ([], [])
    there = partitions(FAMILY)
    assert [one.since.time() for one in there] == [datetime.min.time()] * (AHEAD + 1)
    assert there[0].covers(now()) and there[-1].until > now() + AHEAD * DAY
    assert there[0].name == f"{FAMILY}_{there[0].since:%Y%m%d}"


def test_two_beats_make_the_same_ones_once():
    one, two = overlap(keep_partitions, keep_partitions)

    assert (len(of_the_past(one.made)), two.made) == (2 * (AHEAD + 1), [])


def test_what_holds_nothing_young_enough_is_dropped(settings):
    make(FAMILY, [now() - timedelta(days=days) for days in (13, 15, 16, 40)], DAY)

    assert len(keep_partitions().dropped) == 3
    assert partitions(FAMILY)[0].covers(now() - timedelta(days=13))


def test_a_class_that_is_not_in_the_settings_any_more_empties_in_time(settings):
    run("make_class", {"retention": "brief"})
    make("punctual_past_brief", [now() - timedelta(days=days) for days in (5, 20)], DAY)

    with_class = settings.PUNCTUAL | {"RETENTION": {"brief": {"hot_days": 2}}}
    assert [name[:19] for name in keep_partitions().dropped] == ["punctual_past_brief"]
    settings.PUNCTUAL = with_class
    assert [name[:19] for name in keep_partitions().dropped] == ["punctual_past_brief"]


def test_another_span_fills_the_gaps_between_those_that_are_there():
    [old] = make(FAMILY, [NOON], DAY)

    assert make(FAMILY, [NOON, NOON + DAY + HOUR], HOUR) == [f"{FAMILY}_20260302t130000"]
    assert make(FAMILY, [NOON + DAY], 2 * DAY) == [f"{FAMILY}_20260302"]
    bounds = [(one.since, one.until) for one in partitions(FAMILY)]
    midnight = NOON.replace(hour=0)
    assert bounds == [
        (midnight, midnight + DAY),
        (midnight + DAY, NOON + DAY + HOUR),
        (NOON + DAY + HOUR, NOON + DAY + 2 * HOUR),
    ]
    assert old == f"{FAMILY}_20260301"


def test_a_stretch_is_cut_to_what_is_free():
    there = [Partition(FAMILY, "a", NOON, NOON + HOUR, 0, 0), Partition(FAMILY, "b", NOON + 5 * HOUR, NOON + DAY, 0, 0)]

    assert _free(there, NOON + 2 * HOUR, DAY) == (NOON + HOUR, NOON + 5 * HOUR)


def test_the_functions_touch_nothing_but_partitions_of_ours():
    with connection.cursor() as cursor:
        for statement, words in (
            ("SELECT punctual_drop_partition('punctual_past', 'punctual_task')", "is no partition of"),
            ("SELECT punctual_drop_partition('punctual_task', 'punctual_task')", "is no partition of"),
            ("SELECT punctual_drop_partition('django_migrations', 'x')", "is no partition of"),
            ("SELECT punctual_make_partition('punctual_past_default', 'mine', now(), now())", "is no partition of"),
            (
                "SELECT punctual_make_partition('django_migrations', 'django_migrations_x', now(), now())",
                "no partition",
            ),
            ("SELECT punctual_make_class('Big; DROP TABLE x')", "must be 1 to 20 small letters"),
        ):
            with pytest.raises(ProgrammingError, match=words):
                cursor.execute(statement)
