"""/calendars, and single firings of jobs: what a caller can do, and what it hears when it can't."""

from datetime import datetime, timedelta

import pytest

from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.jobs import verbs
from tasks_app.models import AuditEntry, Calendar, JobDefinition
from tests.support.api import JOB, Api
from tests.support.engine import claim_due, make_due
from tests.support.jobs import by, instances, make, now
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

CALENDAR = {"name": "holidays", "weekdays": [6, 7], "days_off": {"2026-12-25": "Christmas Day"}}


def created(api: Api, **fields) -> dict:
    answer = api.post("/calendars", CALENDAR | fields)
    assert answer.status == 201, answer.body
    return answer.body


def test_a_calendar_is_filled_from_a_file(api):
    made = created(api)
    days = "BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20270101\r\nSUMMARY:New Year\r\nEND:VEVENT\r\n"
    ics = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\n{days}END:VCALENDAR\r\n"

    done = api.post("/calendars/import", {"name": "holidays", "ics": ics, "reason": "the state's list"})

    assert (done.status, done.body["days"], done.body["left_out"]) == (200, 1, [])
    assert done.body["calendar"]["id"] == made["id"]
    assert done.body["calendar"]["days_off"] == {"2026-12-25": "Christmas Day", "2027-01-01": "New Year"}
    refused = api.post("/calendars/import", {"name": "holidays", "ics": "hello"})
    assert (refused.status, "this is not an iCalendar file" in refused.body["detail"]) == (422, True)
    assert api.post("/calendars/import", {"name": "holidays", "ics": ics, "years": 0}).status == 422


def test_a_calendar_is_created_read_changed_and_deleted(api):
    made = created(api)
    url = f"/calendars/{made['id']}"

    assert api.get(url).body == made and api.get(url).headers["ETag"] == '"1"'
    assert (made["weekdays"], made["days_off"], made["working_days"]) == ([6, 7], {"2026-12-25": "Christmas Day"}, {})
    changed = api.call("PATCH", url, body={"weekdays": None, "reason": "we work"}, If_Match="1")
    assert (changed.status, changed.body["weekdays"], changed.body["revision"]) == (200, [], 2)
    assert changed.body["days_off"] == made["days_off"]
    assert api.call("PATCH", url, body={"weekdays": [7]}, If_Match="1").code == "SCH_412_STALE"
    assert api.call("DELETE", url).status == 204 and api.get(url).status == 404
    done = AuditEntry.objects.filter(subject=f"calendar {made['id']}").order_by("id").values_list("verb", flat=True)
    assert list(done) == ["create calendar", "edit calendar", "delete calendar"]


def test_calendars_are_listed_by_name_page_by_page(api):
    for name in ("b", "a", "c"):
        created(api, name=name)
    Calendar.objects.create(tenant="other", name="aa")

    first = api.get("/calendars?limit=2").body
    rest = api.get(f"/calendars?limit=2&after={first['next']}").body

    assert [one["name"] for one in first["items"] + rest["items"]] == ["a", "b", "c"] and rest["next"] is None


def test_a_job_keeps_a_calendar_by_its_name(api):
    created(api)
    job = api.post("/jobs", JOB | {"calendar": "holidays", "on_day_off": "shift"}).body

    assert (job["calendar"], job["on_day_off"]) == ("holidays", "shift")
    preview = api.get(f"/jobs/{job['id']}/preview?count=60").body
    assert all(set(one) == {"at", "fire_time", "words"} for one in preview["times"])
    without = api.call("PATCH", f"/jobs/{job['id']}", body={"calendar": None}, If_Match="1").body
    assert (without["calendar"], without["on_day_off"]) == (None, "skip")


def test_the_preview_says_what_falls_out_and_why(api):
    today = now()
    off = {(today + timedelta(days=number)).date().isoformat(): "Stock-taking" for number in range(1, 4)}
    created(api, weekdays=[], days_off=off)
    job = api.post("/jobs", JOB | {"cron": "0 9 * * *", "timezone": "UTC", "calendar": "holidays"}).body

    [one, *_] = api.get(f"/jobs/{job['id']}/preview").body["falls_out"]

    assert "falls out: Stock-taking, in the calendar 'holidays'" in one["words"] and one["skipped"] is False


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"name": ""}, "name"),
        ({"weekdays": [0]}, "1 (Monday) to 7 (Sunday)"),
        ({"weekdays": "Sunday"}, "weekdays"),
        ({"days_off": ["2026-12-25"]}, "days_off"),
        ({"days_off": {"25.12.2026": ""}}, "which is not a day; write it like 2026-12-25"),
        ({"days_off": {"2026-02-30": ""}}, "there is no such day"),
        ({"days_off": {"2026-12-25": None}}, "days_off"),
        ({"days_off": {"2026-12-25": ""}, "working_days": {"2026-12-25": ""}}, "leave it in one of the two lists"),
        ({"holidays": {}}, "holidays"),
    ],
)
def test_a_calendar_that_makes_no_sense_is_a_problem_with_a_reason(api, body, words):
    answer = api.post("/calendars", CALENDAR | body)

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID")
    assert words in answer.body["detail"] and not Calendar.objects.exists()


def test_a_calendar_that_a_job_keeps_stays(api):
    made = created(api)
    make("daily", calendar="holidays", every=3600)

    answer = api.call("DELETE", f"/calendars/{made['id']}")

    assert answer.status == 422 and "is kept by 'daily'" in answer.body["detail"]


def test_a_token_for_some_types_reads_calendars_and_changes_none(api):
    made = created(api)
    narrow = Api(token=issue("narrow", "default", operator(), can_write=True, types=["T_QUIET"])[1])

    assert narrow.get(f"/calendars/{made['id']}").status == 200
    answer = narrow.call("PATCH", f"/calendars/{made['id']}", body={"weekdays": []}, If_Match="1")
    assert answer.code == "SCH_403_FORBIDDEN" and "jobs of all" in answer.body["detail"]


def test_a_firing_is_moved_skipped_and_restored(api):
    job = make(cron="0 9 * * *")
    [first, second, *_] = api.get(f"/jobs/{job.id}/preview").body["times"]
    firings = f"/jobs/{job.id}/firings"
    to = (datetime.fromisoformat(first["at"]) + timedelta(hours=9)).isoformat()

    moved = api.post(f"{firings}/next/move", {"to": to, "reason": "later"}, Idempotency_Key="m")
    again = api.post(f"{firings}/next/move", {"to": to, "reason": "later"}, Idempotency_Key="m")
    assert (moved.status, moved.body["outcome"]) == (200, "moved") and again.body == moved.body
    assert moved.body["fire_time"] == first["fire_time"]
    skipped = api.post(f"{firings}/{second['fire_time']}/skip")
    assert (skipped.status, skipped.body["outcome"], skipped.body["moved_to"]) == (200, "skipped", None)

    preview = api.get(f"/jobs/{job.id}/preview?count=2").body
    assert preview["times"][0]["fire_time"] == first["fire_time"] and "moved from" in preview["times"][0]["words"]
    assert [(one["fire_time"], one["skipped"]) for one in preview["falls_out"]] == [(second["fire_time"], True)]

    for one in (first, second):
        assert api.post(f"{firings}/{one['fire_time']}/restore").body["outcome"] == "restored"
    assert api.get(f"/jobs/{job.id}/preview").body["times"][0] == first


def test_a_firing_that_was_claimed_is_told_with_its_task(api):
    job = make(every=10)
    task = instances(job)[0]
    make_due(task.id)
    claim_due()

    answer = api.post(f"/jobs/{job.id}/firings/{task.fire_time.isoformat()}/skip")

    assert (answer.status, answer.code) == (409, "SCH_409_CLAIMED")
    assert answer.body["task"] == {"id": task.id, "status": "RUNNING", "live": True}


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("tomorrow/skip", "is not a time; give `fire_time` of the preview"),
        ("2027-03-01T08:00:00/skip", "is not a time"),
        ("20270301/skip", "is not a time"),
        ("2027-03-01T08:00:01Z/skip", "is not a firing of job"),
        ("next/restore", "`next` is none of them"),
        ("2090-01-01T00:00:00Z/restore", "was neither skipped nor moved"),
    ],
)
def test_what_is_no_firing_is_refused(api, where, words):
    job = make(cron="0 9 * * *")

    answer = api.post(f"/jobs/{job.id}/firings/{where}")

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID") and words in answer.body["detail"]


def test_a_firing_of_another_tenants_job_is_not_found(api):
    job = make(tenant="other")

    assert api.post(f"/jobs/{job.id}/firings/next/skip").status == 404
    verbs.delete(job.id, by(), tenant="other")
    assert not JobDefinition.objects.exists()
