"""Rules of recurring days: the same days as dateutil's, but for the work of finding them."""

import random
from datetime import date, datetime
from itertools import dropwhile, takewhile

import pytest
from dateutil.rrule import rrulestr

from tasks_app.core.recurrence import FREQUENCIES, Budget, Rule, Spent

LOW, HIGH = date(2025, 1, 1), date(2032, 12, 31)
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def days_of(text: str, first: date, steps: int = 1_000_000) -> list[date]:
    return list(Rule.of(text).days(first, LOW, HIGH, Budget(steps)))


def by_dateutil(text: str, first: date) -> list[date]:
    times = (one.date() for one in rrulestr(text, dtstart=datetime(first.year, first.month, first.day)))  # noqa: DTZ001
    return list(dropwhile(lambda day: day < LOW, takewhile(lambda day: day <= HIGH, times)))


def some(dice: random.Random, most: int, *, back: bool) -> str:
    numbers = {dice.randint(1, most) * dice.choice([1, -1] if back else [1]) for _ in range(dice.randint(1, 4))}
    return ",".join(map(str, numbers))


def made_up(dice: random.Random) -> str:
    frequency = dice.choice(FREQUENCIES)
    months, years = frequency in ("MONTHLY", "YEARLY"), frequency == "YEARLY"
    parts = {"FREQ": frequency, "INTERVAL": str(dice.choice([1, 1, 2, 3, 7, 13]))}
    parts |= dice.choice([{}, {"COUNT": str(dice.randint(1, 40))}, {"UNTIL": f"{dice.randint(2010, 2040)}0615"}])
    if dice.random() < 0.4:
        parts["BYMONTH"] = some(dice, 12, back=False)
    if dice.random() < 0.4 and frequency != "WEEKLY":
        parts["BYMONTHDAY"] = some(dice, 31, back=True)
    if dice.random() < 0.2 and years:
        parts["BYYEARDAY"] = some(dice, 366, back=True)
    if dice.random() < 0.2 and years:
        parts["BYWEEKNO"] = some(dice, 53, back=False)
    if dice.random() < 0.3:
        parts["BYDAY"] = ",".join({dice.choice(WEEKDAYS) for _ in range(dice.randint(1, 4))})
    elif dice.random() < 0.4 and months:
        most = 53 if years and "BYMONTH" not in parts else 5
        parts["BYDAY"] = ",".join({some(dice, most, back=True).split(",")[0] + dice.choice(WEEKDAYS) for _ in range(3)})
    if dice.random() < 0.3 and months and any(name.startswith("BY") for name in parts):
        parts["BYSETPOS"] = some(dice, 5, back=True)
    if dice.random() < 0.3:
        parts["WKST"] = dice.choice(WEEKDAYS)
    return ";".join(f"{name}={value}" for name, value in parts.items())


def test_rules_name_the_same_days_as_dateutils():
    """Those that name any: of a rule without a day, dateutil tries each until the year 9999."""
    dice, compared = random.Random(40), 0
    while compared < 150:
        text = made_up(dice)
        first = date(dice.choice([1990, 2019, 2024, 2026]), dice.randint(1, 12), dice.randint(1, 28))
        if found := days_of(text, first):
            assert found == by_dateutil(text, first), (text, first)
            compared += 1


def test_what_happened_before_is_stepped_over_unless_it_counts():
    found = days_of("FREQ=DAILY;INTERVAL=1000", date(1, 1, 1), steps=20)
    assert found == [date(2027, 1, 20), date(2029, 10, 16), date(2032, 7, 12)]
    assert all((day - date(1, 1, 1)).days % 1000 == 0 for day in found)
    with pytest.raises(Spent):
        days_of("FREQ=DAILY;COUNT=999999", date(1, 1, 1), steps=100_000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FREQ=SOMETIMES",
        "FREQ=DAILY;FREQ=DAILY",
        "FREQ=DAILY;INTERVAL=0",
        "FREQ=DAILY;INTERVAL=1e9",
        "FREQ=DAILY;COUNT=0",
        "FREQ=DAILY;COUNT=" + "9" * 5_000,
        "FREQ=YEARLY;BYMONTH=13",
        "FREQ=YEARLY;BYMONTH=-1",
        "FREQ=YEARLY;BYMONTHDAY=0",
        "FREQ=YEARLY;BYYEARDAY=367",
        "FREQ=YEARLY;BYDAY=0MO",
        "FREQ=YEARLY;BYDAY=XX",
        "FREQ=YEARLY;UNTIL=20261301",
        "FREQ=YEARLY;WKST=XX",
        "FREQ=YEARLY;RSCALE=CHINESE",
        "FREQ=DAILY;BYYEARDAY=1",
    ],
)
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(ValueError):
        Rule.of(text)
