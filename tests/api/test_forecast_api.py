"""What the panels read: the forecast, a job that is not made yet, and errors with the fields that they are about."""

import pytest

from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.lanes import LANES
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.models import JobDefinition
from tests.support.api import JOB, Api
from tests.support.jobs import make, nightly
from tests.support.operators import operator

# As the requirements have it: six fields, and no task type.
EXAMPLE = {"name": "coupon_job", "cron": "0 */5 * * * ?"}


def fields(answer) -> list[str | None]:
    return [one["field"] for one in answer.body["errors"]]


def test_the_forecast_has_every_minute_of_every_lane(api):
    make("hourly", cron="0 * * * *", lane="low")
    make("of somebody else", cron="0 * * * *", tenant="other")

    told = api.get("/scheduler/forecast").body

    assert {one["lane"]: one["firings"] for one in told["lanes"]} == dict.fromkeys(LANES, 0) | {
        "low": 24,
        "default": 24,
    }
    assert {len(one["minutes"]) for one in told["lanes"]} == {1440}
    assert (told["jobs"], told["jobs_left_out"], told["peaks"]) == (2, 0, [])
    assert told["capacity_per_minute"] is None


def test_a_peak_is_told(api):
    nightly(61)

    [peak] = api.get("/scheduler/forecast").body["peaks"]

    assert (peak["firings"], peak["over_capacity"], peak["at"][11:]) == (61, False, "00:00:00Z")


def test_a_draft_is_told_with_its_next_five_times_and_nothing_is_saved(api):
    told = api.post("/jobs/preview", JOB)

    assert told.status == 200
    assert told.body["words"] == "At 09:00 on Monday through Friday, Europe/Berlin time"
    assert len(told.body["times"]) == 5
    assert (len(told.body["day"]["others"]), sum(told.body["day"]["own"]) <= 1) == (96, True)
    assert (told.body["errors"], told.body["advice"]) == ([], None)
    assert not JobDefinition.objects.exists()


def test_the_example_of_the_requirements_is_told_what_it_lacks_and_when_it_would_fire(api):
    draft = api.post("/jobs/preview", EXAMPLE)
    made = api.post("/jobs", EXAMPLE)

    assert draft.body["words"] == "Every fifth minute of every hour"
    assert (len(draft.body["times"]), sum(draft.body["day"]["own"])) == (5, 288)
    assert fields(draft) == ["task_type"]
    assert (made.status, fields(made)) == (422, ["task_type"])
    for told in (draft.body["errors"][0]["detail"], made.body["detail"]):
        assert "task_type is missing" in told
        assert HTTP_CALLBACK in told or "T_QUIET" in told
    assert api.post("/jobs", EXAMPLE | {"task_type": "T_QUIET"}).status == 201


def test_a_caller_hears_only_of_the_types_that_are_open_to_it(db):
    narrow = Api(token=issue("narrow", "default", operator(), can_write=True, types=["T_QUIET"])[1])

    said = narrow.post("/jobs", EXAMPLE).body["detail"]

    assert said.endswith("You may use T_QUIET.")
    assert narrow.post("/jobs/preview", EXAMPLE | {"task_type": "T_THREE"}).code == "SCH_403_TYPE_CLOSED"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"cron": "0 9 * * MOM"}, "cron"),
        ({"timezone": "Europe/Atlantis"}, "timezone"),
        ({"calendar": "nobody's"}, "calendar"),
        ({"jitter": 86_400}, "jitter"),
        ({"max_retry": -1}, "max_retry"),
        ({"timeout": 0}, "timeout"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_field(api, change, field):
    draft, made = api.post("/jobs/preview", JOB | change), api.post("/jobs", JOB | change, Idempotency_Key="k")

    assert (draft.status, fields(draft)) == (200, [field])
    assert (made.status, fields(made)) == (422, [field])
    assert made.body["errors"][0]["detail"] == draft.body["errors"][0]["detail"]
    assert api.post("/jobs", JOB | change, Idempotency_Key="k").body == made.body


def test_a_name_that_is_taken_and_a_value_of_another_type_are_told_with_their_fields(api):
    api.post("/jobs", JOB)

    assert fields(api.post("/jobs/preview", JOB)) == ["name"]
    taken = api.post("/jobs", JOB)
    assert (taken.code, fields(taken), taken.body["job"]["revision"]) == ("SCH_409_DUPLICATE", ["name"], 1)
    assert fields(api.post("/jobs/preview", JOB | {"every": "often"})) == ["every"]


def test_two_mistakes_are_told_at_once(api):
    told = api.post("/jobs/preview", {"name": "x", "task_type": "T_QUIET", "max_retry": -1, "cron": "61 * * * *"})

    assert fields(told) == ["max_retry", "cron"]
    assert (told.body["words"], told.body["times"], told.body["day"]) == (None, [], None)


WRONG = {
    "name": "n" * 500,
    "backoff": [],
    "max_retry": -1,
    "timeout": 0,
    "jitter": 90_000,
    "catch_up_window": 1,
    "catch_up_most": 0,
    "max_runs": 0,
    "expires_after": 0,
    "calendar": "nobody's",
    "cron": "61 * * * *",
    "timezone": "Europe/Atlantis",
}


def test_all_mistakes_are_told_at_once_each_with_its_field(api):
    told = api.post("/jobs/preview", {"task_type": "T_QUIET"} | WRONG)

    assert (told.status, sorted(fields(told))) == (200, sorted(WRONG))
    for error in told.body["errors"]:
        made = api.post("/jobs", JOB | {error["field"]: WRONG[error["field"]]})
        assert made.body["errors"] == [error], error


def test_mistakes_that_need_another_field_are_told_beside_the_others(api):
    api.post("/jobs", JOB)
    change = {"every": 3_600, "cron": "", "jitter": 7_200, "end_at": "2020-01-01T00:00:00Z", "payload": None}

    told = api.post("/jobs/preview", JOB | change | {"timezone": "Mars/Base"})
    child = api.post("/jobs/preview", {"name": JOB["name"], "parents": ["nobody"], "max_retry": -1})
    once = api.post("/jobs/preview", {"name": "once", "delay": 5, "at": change["end_at"], "timeout": 0})

    assert sorted(fields(told)) == ["end_at", "jitter", "name", "timezone"]
    assert sorted(fields(child)) == ["max_retry", "name", "parents", "task_type"]
    assert sorted(fields(once)) == ["delay", "task_type", "timeout"]


def test_a_draft_that_joins_a_peak_is_offered_a_jitter(api):
    nightly(60)

    advice = api.post("/jobs/preview", JOB | {"cron": "0 0 * * *", "timezone": "UTC"}).body["advice"]

    assert (advice["firings"], advice["jitter"] is not None) == (61, True)
    assert f"Spread over {advice['jitter']} seconds" in advice["words"]
    calm = JOB | {"cron": "0 0 * * *", "timezone": "UTC", "jitter": advice["jitter"]}
    assert api.post("/jobs/preview", calm).body["advice"] is None


def test_a_job_that_was_saved_is_offered_a_jitter_and_none_once_it_is_spread(api):
    nightly(60)
    midnight = JOB | {"cron": "0 0 * * *", "timezone": "UTC"}

    made = api.post("/jobs", midnight | {"name": "one more"}, Idempotency_Key="k")
    advice = made.body["advice"]
    assert (made.status, advice["firings"], advice["jitter"] is not None) == (201, 61, True)
    assert f"Spread over {advice['jitter']} seconds" in advice["words"]
    assert api.post("/jobs", midnight | {"name": "one more"}, Idempotency_Key="k").body == made.body

    where = f"/jobs/{made.body['id']}"
    same = api.patch(where, {"max_retry": 1}, If_Match="1").body
    calm = api.patch(where, {"jitter": advice["jitter"]}, If_Match="2").body
    assert (same["advice"]["firings"], calm["advice"]) == (61, None)
    assert "advice" not in api.get(where).body


def test_looking_needs_a_token_that_may_write_only_for_drafts(db):
    reader = Api(can_write=False)

    assert reader.get("/scheduler/forecast").status == 200
    assert reader.post("/jobs/preview", JOB).code == "SCH_403_FORBIDDEN"
