"""The pages of calendars and of single firings: what they show, who may do what, and bad input."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from django_punctual.calendars import CalendarRequest, create_calendar
from tasks_app.models import Calendar, FiringOverride, JobDefinition, ScheduleTask
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import claim_due, make_due
from tests.support.jobs import by, instances, make, now

pytestmark = pytest.mark.django_db

VIEW, OPERATE = "punctual.view_jobdefinition", "punctual.operate_jobdefinition"
LIST = "/admin/punctual/calendar/"
JOBS = "/admin/punctual/jobdefinition/"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", VIEW, OPERATE))


@pytest.fixture
def viewer():
    return client_of(person("vera", VIEW))


def form(**more) -> dict:
    typed = {"tenant": "default", "name": "holidays", "weekdays": ["6", "7"], "reason": "wanted"}
    return (
        typed
        | {"days_off": "2026-12-25 Christmas Day\n\n2026-12-26", "working_days": ""}
        | {"operation": str(uuid4())}
        | more
    )


def text(client: Client, path: str, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def test_the_days_of_a_file_are_added_and_what_it_leaves_out_is_told(operator):
    ics = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\n{}END:VCALENDAR\r\n"
    new_year = "BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20270101\r\nSUMMARY:New Year\r\nEND:VEVENT\r\n"
    lunch = "BEGIN:VEVENT\r\nDTSTART:20270102T120000Z\r\nEND:VEVENT\r\n"
    file = SimpleUploadedFile("days.ics", ics.format(new_year + lunch).encode())

    saved = operator.post(f"{LIST}add/", form(ics=file), follow=True)

    kept = Calendar.objects.get()
    assert kept.days_off == {"2026-12-25": "Christmas Day", "2026-12-26": "", "2027-01-01": "New Year"}
    assert "1 event with a time of day was left out." in saved.content.decode()
    bad = SimpleUploadedFile("days.ics", b"hello")
    refused = operator.post(f"{LIST}{kept.id}/edit/", form(ics=bad, revision=1))
    assert refused.status_code == 400
    assert "days.ics: this is not an iCalendar file (.ics)" in refused.content.decode()
    assert Calendar.objects.get().days_off == kept.days_off


def test_a_calendar_is_made_shown_edited_and_deleted(operator):
    assert "every job fires on any day" in text(operator, LIST)
    answer = operator.post(f"{LIST}add/", form())
    kept = Calendar.objects.get()
    assert answer.status_code == 302 and answer.url.endswith(f"/calendar/{kept.id}/change/")
    assert kept.days_off == {"2026-12-25": "Christmas Day", "2026-12-26": ""} and kept.weekdays == [6, 7]
    make("nightly", every=3600, calendar="holidays")
    shown = text(operator, f"{LIST}{kept.id}/change/")
    assert "Christmas Day" in shown and "Saturday, Sunday" in shown and "nightly" in shown and "wanted" in shown
    assert "2026-12-25 Christmas Day" in text(operator, f"{LIST}{kept.id}/edit/")

    operator.post(f"{LIST}{kept.id}/edit/", form(name="office", weekdays=[], revision="1"))
    kept.refresh_from_db()
    assert (kept.name, kept.weekdays, kept.revision) == ("office", [], 2)

    refused = operator.post(f"{LIST}{kept.id}/remove/", form())
    assert refused.status_code == 400 and "is kept by" in refused.content.decode()
    JobDefinition.objects.update(calendar=None)
    assert operator.post(f"{LIST}{kept.id}/remove/", form()).status_code == 302
    assert not Calendar.objects.exists()


def test_a_form_that_is_sent_twice_acts_once(operator):
    sent = form()
    assert [operator.post(f"{LIST}add/", sent).status_code for _ in range(2)] == [302, 302]
    assert Calendar.objects.count() == 1


TYPED_WRONG = [
    ({"days_off": "25.12.2026 Christmas"}, "which is not a day; write it like 2026-12-25"),
    ({"days_off": "2026-12-25", "working_days": "2026-12-25"}, "leave it in one of the two lists"),
    ({"weekdays": ["1", "2", "3", "4", "5", "6", "7"]}, "no day would be a working day"),
    ({"weekdays": ["9"]}, "9"),
    ({"name": ""}, "required"),
    ({"reason": ""}, "Say briefly why"),
]


def test_what_is_typed_wrong_is_told_beside_its_field(operator):
    for typed, words in TYPED_WRONG:
        answer = operator.post(f"{LIST}add/", form(**typed))

        assert answer.status_code == 400 and words in answer.content.decode().replace("&#x27;", "'"), typed
        assert not Calendar.objects.exists(), typed


def test_two_who_edit_a_calendar_are_told(operator):
    kept = create_calendar(CalendarRequest("holidays"), by())
    operator.post(f"{LIST}{kept.id}/edit/", form(revision="1"))

    answer = operator.post(f"{LIST}{kept.id}/edit/", form(revision="1", name="mine"))

    assert answer.status_code == 400 and "somebody changed it" in answer.content.decode()


def test_what_others_wrote_is_shown_as_text(operator):
    create_calendar(CalendarRequest(SCRIPT, days_off={"2026-12-25": SCRIPT}), by())
    kept = Calendar.objects.get()

    for page in (LIST, f"{LIST}{kept.id}/change/", f"{LIST}{kept.id}/edit/"):
        assert SCRIPT not in text(operator, page)


def test_whoever_only_looks_may_not_act(viewer):
    kept, job = create_calendar(CalendarRequest("holidays"), by()), make()

    assert "holidays" in text(viewer, LIST) and "Edit" not in text(viewer, f"{LIST}{kept.id}/change/")
    assert "Skip …" not in text(viewer, f"{JOBS}{job.id}/change/")
    for page in (
        f"{LIST}add/",
        f"{LIST}{kept.id}/edit/",
        f"{LIST}{kept.id}/remove/",
        f"{JOBS}{job.id}/firing/skip/",
    ):
        assert viewer.get(page).status_code == viewer.post(page, form()).status_code == 403
    assert client_of(person("nobody")).get(LIST).status_code == 403


def test_a_job_is_given_a_calendar_in_its_form(operator):
    create_calendar(CalendarRequest("holidays", weekdays=[7]), by())
    typed = {
        "tenant": "default",
        "name": "nightly",
        "task_type": "T_QUIET",
        "cron": "0 3 * * *",
        "timezone": "UTC",
        "dst_gap": "shift",
        "dst_repeat": "once",
        "catch_up": "latest",
        "overlap": "allow",
        "calendar": "holidays",
        "on_day_off": "skip",
        "reason": "wanted",
        "operation": str(uuid4()),
    }
    previewed = operator.post(f"{JOBS}add/", typed | {"preview": "1"}).content.decode()
    assert "falls out: Sunday, in the calendar" in previewed and not JobDefinition.objects.exists()

    operator.post(f"{JOBS}add/", typed)
    job = JobDefinition.objects.get()
    assert job.calendar == Calendar.objects.get().id
    page = text(operator, f"{JOBS}{job.id}/change/")
    assert "falls out: Sunday" in page and "a firing on a day off: skip" in page
    assert 'value="holidays"' in text(operator, f"{JOBS}{job.id}/edit/")
    bad = operator.post(f"{JOBS}add/", typed | {"name": "other", "calendar": "holiday", "operation": str(uuid4())})
    assert bad.status_code == 400 and "Did you mean" in bad.content.decode()


def order(fire_time: str, **more) -> dict:
    return {"fire_time": fire_time, "reason": "it has to be", "operation": str(uuid4())} | more


def test_a_firing_is_moved_skipped_and_restored_on_the_page_of_its_job(operator):
    job = make(cron="0 9 * * *")
    [first, second] = job.schedule.next(now() + timedelta(days=1), 2)
    url = f"{JOBS}{job.id}/firing/"
    assert "Move …" in text(operator, f"{JOBS}{job.id}/change/")
    assert "It is that of" in text(operator, f"{url}move/?at={first.isoformat().replace('+', '%2B')}")

    to = first + timedelta(hours=9)
    assert operator.post(f"{url}move/", order(first.isoformat(), to=f"{to:%Y-%m-%dT%H:%M}")).status_code == 302
    operator.post(f"{url}skip/", order(second.isoformat()))
    assert {one.fire_time: one.moved_to for one in FiringOverride.objects.all()} == {first: to, second: None}
    page = text(operator, f"{JOBS}{job.id}/change/")
    assert "moved from" in page and "skipped by olga: it has to be" in page and "Restore …" in page

    operator.post(f"{url}restore/", order(first.isoformat()))
    operator.post(f"{url}restore/", order(second.isoformat()))
    assert not FiringOverride.objects.exists()
    assert [one.verb for one in deeds()].count("restore firing") == 2


def test_what_can_not_be_done_to_a_firing_is_said_on_the_page(operator):
    job = make(every=10)
    task = instances(job)[0]
    make_due(task.id)
    claim_due()
    url = f"{JOBS}{job.id}/firing/"

    for verb, at, words in [
        ("skip", task.fire_time.isoformat(), "was claimed already"),
        ("skip", "soon", "not the time of a firing"),
        ("skip", "", "required"),
        ("move", instances(job)[1].fire_time.isoformat(), "required"),
    ]:
        answer = operator.post(f"{url}{verb}/", order(at))
        assert answer.status_code == 400 and words in answer.content.decode()
    assert operator.get(f"{url}bend/").status_code == 404
    assert ScheduleTask.objects.get(id=task.id).status == "RUNNING"
