"""002 §4: the service levels, and that what is promised of the whole installation is judged by them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tasks_app.conf import conf
from tasks_app.core.lateness import histogram
from tasks_app.core.service_levels import MINUTE
from tasks_app.engine.watch.service_levels import read_levels
from tests.support.levels import measured

pytestmark = pytest.mark.django_db


def a_month(**sums: object) -> None:
    """Thirty days in which so much ran, judged up to the last minute."""
    last = timezone.now().replace(second=0, microsecond=0)
    measured(last - timedelta(days=30, hours=1), up_minutes=0)
    measured(last - MINUTE, **sums)


def test_s4_of_the_minutes_of_30_days_999_in_1000_have_to_be_up():
    a_month(up_minutes=43_157, down_minutes=43)
    found = read_levels()
    assert (found.goals.availability, round(found.budget, 3), found.available, found.missed) == (0.999, 43.2, True, [])


def test_s4_with_44_minutes_down_the_month_has_missed_99_9_percent():
    a_month(up_minutes=43_156, down_minutes=44)
    assert (read_levels().available, read_levels().missed) == (False, ["availability"])


@pytest.mark.parametrize(("ms", "missed"), [(2_000, []), (2_001, ["trigger delay"])])
def test_s4_95_percent_of_the_tasks_start_within_2_seconds(ms, missed):
    a_month(lateness=histogram([0.0] * 80 + [ms] * 20))

    assert read_levels().missed == missed


def test_s4_5_percent_may_start_later():
    a_month(lateness=histogram([0.0] * 95 + [9_000.0] * 5))

    assert read_levels().punctual


@pytest.mark.parametrize(("failed", "missed"), [(5, []), (6, ["success rate"])])
def test_s4_99_5_percent_of_the_runs_succeed(failed, missed):
    a_month(ok=1_000 - failed, failed=failed)

    assert read_levels().missed == missed


def test_s4_every_lane_is_tried_every_10_seconds():
    """What nothing was due in would have no figures: availability is that of canaries."""
    assert conf().CANARY_SECONDS == 10.0
