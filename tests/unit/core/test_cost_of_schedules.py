"""The next times of a schedule, however rare, take less than a second of processor time."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest

from tasks_app.core.calendars import MOST_DAYS, Days
from tasks_app.core.cron import LONGEST, parse
from tasks_app.core.errors import InvalidTask
from tasks_app.core.schedule import Schedule
from tests.support.cpu import ends_in_time

NOW = datetime(2026, 11, 16, tzinfo=UTC)
CRONS = (
    "* * * * * *",
    "*/5 * * * *",
    "0 0 29 2 *",
    "0 0 0 29 2 MON",
    "0 0 0 L 2 MON#5",
    "0 0 31 2 *",
    "0 0 0 LW 2 SUN",
    "0 0 0 29 2 MON#1,TUE#1,WED#1,THU#1,FRI#1,SAT#1,SUN#1",
    ("1," * LONGEST)[: LONGEST - 9] + "1 * * * *",
)
OFF = {
    "one stretch": [date(2026, 11, 1) + timedelta(days=number) for number in range(MOST_DAYS)],
    "each second day": [date(2026, 11, 1) + timedelta(days=2 * number) for number in range(MOST_DAYS)],
    "each leap day": [date(year, 2, 29) for year in range(1972, 2200, 4) if year != 2100],
}


@pytest.mark.parametrize("off", OFF)
@pytest.mark.parametrize("weekdays", [(), (1, 2, 3, 4, 5, 6)])
@pytest.mark.parametrize("on_day_off", ["skip", "shift"])
def test_rare_times_of_any_cron_string_are_found_or_given_up_within_a_second(off, weekdays, on_day_off):
    days = Days("key", "office", frozenset(weekdays), dict.fromkeys(OFF[off], ""), {})

    def work(cron: str) -> None:
        with suppress(InvalidTask):
            parse(cron).closest()
            Schedule(cron=cron, zone="Europe/Berlin", days=days, on_day_off=on_day_off).next(NOW, 3)

    assert [cron for cron in CRONS if not ends_in_time(partial(work, cron))] == []
