"""`manage.py calendars` and `manage.py firing`: what they do and say, and what they refuse."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import AuditEntry, Calendar, FiringOverride
from tests.support.jobs import make, now

pytestmark = pytest.mark.django_db

ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//x//EN
BEGIN:VEVENT
DTSTART;VALUE=DATE:20251225
RRULE:FREQ=YEARLY
SUMMARY:Christmas Day
END:VEVENT
BEGIN:VEVENT
DTSTART:20261231T200000Z
SUMMARY:Party
END:VEVENT
END:VCALENDAR
"""


def said(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "holidays.ics"
    path.write_text(ICS)
    return str(path)


def test_a_file_becomes_a_calendar_and_a_second_one_adds_to_it(file):
    words = said("calendars", "import", file, "--years", "2", "--reason", "the list", "--by", "olga")

    kept = Calendar.objects.get()
    year = now().year
    assert list(kept.days_off) == [f"{one}-12-25" for one in range(max(year - 1, 2025), year + 3)]
    assert f"The calendar 'holidays' has {len(kept.days_off)} days off now" in words
    assert "1 event with a time of day was left out." in words
    assert AuditEntry.objects.get().actor == "olga"
    Calendar.objects.update(days_off={"2026-01-01": "New Year"})

    said("calendars", "import", file, "--years", "2")
    assert "2026-01-01" in Calendar.objects.get().days_off and f"{year}-12-25" in Calendar.objects.get().days_off
    said("calendars", "import", file, "--years", "2", "--replace")
    assert "2026-01-01" not in Calendar.objects.get().days_off
    assert "Christmas Day" in said("calendars", "show", "holidays")
    assert said("calendars", "list").startswith("holidays: ")
    assert "is deleted" in said("calendars", "delete", "holidays")
    assert "has no calendars" in said("calendars", "list")


def test_what_can_not_be_imported_is_said(file, tmp_path):
    (tmp_path / "no.ics").write_text("hello")
    for args, words in [
        (["import", str(tmp_path / "none.ics")], "can't be read: No such file"),
        (["import", str(tmp_path)], "can't be read"),
        (["import", str(tmp_path / "no.ics")], "this is not an iCalendar file"),
        (["import", file, "--years", "99"], "years=99 must be a whole number from 1 to 50."),
        (["show", "nobody"], "has no calendar named 'nobody'"),
        (["delete", "nobody"], "has no calendar named 'nobody'"),
    ]:
        with pytest.raises(CommandError) as refused:
            said("calendars", *args)
        assert words in str(refused.value)
    assert not Calendar.objects.exists()


def test_a_firing_is_skipped_moved_and_restored():
    job = make("daily report", cron="0 9 * * *", timezone="Europe/Berlin")
    [first, second] = job.schedule.next(now(), 2)

    assert "is skipped." in said("firing", "skip", "daily report", "--reason", "nobody is there")
    assert FiringOverride.objects.get().fire_time == first
    words = said("firing", "move", str(job.id), "--fire-time", second.isoformat(), "--to", "2090-01-01T18:00+01:00")
    assert "runs on Sun 1 Jan 2090 18:00 CET." in words
    assert "runs by the schedule again" in said("firing", "restore", "daily report", "--fire-time", first.isoformat())
    shown = said("plan", "--preview", "daily report", "--count", "2")
    assert "moved from" not in shown and FiringOverride.objects.count() == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["skip", "nobody"], "has no job with the id or name 'nobody'"),
        (["skip", "daily", "--fire-time", "tomorrow"], "is not a time with a zone; write it like"),
        (["move", "daily", "--to", "2090-01-01T18:00"], "is not a time with a zone"),
        (["move", "daily", "--to", "2020-01-01T18:00Z"], "has passed"),
        (["restore", "daily", "--fire-time", "2090-01-01T18:00Z"], "was neither skipped nor moved"),
    ],
)
def test_mistakes_are_said_with_the_way_out(args, words):
    make("daily", cron="0 9 * * *")

    with pytest.raises(CommandError) as refused:
        said("firing", *args)
    assert words in str(refused.value)
