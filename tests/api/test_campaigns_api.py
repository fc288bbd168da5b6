"""/campaigns: begun, watched and stopped by programs, each in its own tenant, types and lanes."""

from datetime import timedelta

import pytest

from django_punctual import schedule
from tasks_app.engine.operations.api_tokens import issue
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import AuditEntry, Campaign, CampaignChunk, Curb, ScheduleTask
from tests.support.api import Api
from tests.support.backfill import backfilled, hourly, hours
from tests.support.campaigns import begun, carried_out, older_than_undo
from tests.support.moves import MONDAY, dead, scheduled
from tests.support.operators import operator

pytestmark = pytest.mark.django_db


def token(**options: object) -> Api:
    return Api(token=issue("some", "default", operator(), can_write=True, **options)[1])


def chosen(answer) -> list[int]:
    return sorted(id_ for chunk in CampaignChunk.objects.filter(campaign=answer.body["id"]) for id_ in chunk.ids)


def test_a_campaign_is_begun_watched_and_stopped(api):
    ids = dead("a", "b")
    body = {"kind": "replay", "matching": {"status": "DEAD"}, "rate": 5, "cap": 10, "reason": "it is back"}

    begun_ = api.post("/campaigns", body, Idempotency_Key="once")
    again = api.post("/campaigns", body, Idempotency_Key="once")

    assert (begun_.status, again.body["id"], Campaign.objects.count()) == (201, begun_.body["id"], 1)
    assert chosen(begun_) == ids
    one = f"/campaigns/{begun_.body['id']}"
    assert api.post(f"{one}/pause", {"reason": "wait"}).body == {
        "id": begun_.body["id"],
        "state": "PAUSED",
        "changed": True,
    }
    assert api.post(f"{one}/pause").body["changed"] is False
    assert api.post(f"{one}/resume").body["state"] == "RUNNING"
    carried_out(Campaign.objects.get())
    seen = api.get(one).body
    assert (seen["state"], seen["done"], seen["counts"], seen["lane"]) == ("DONE", 2, {"replayed": 2}, "backfill")
    assert api.post(f"{one}/cancel").body == {"id": begun_.body["id"], "state": "DONE", "changed": False}
    told = AuditEntry.objects.filter(subject=f"campaign {begun_.body['id']}").order_by("id")
    assert [entry.verb for entry in told] == ["campaign", "pause", "resume"]


def test_a_move_by_so_much_is_begun_and_undone(api):
    [task] = scheduled("a", at=MONDAY)

    moved = api.post("/campaigns", {"kind": "move", "matching": {"status": "INIT"}, "by_seconds": 3600})
    early = api.post(f"/campaigns/{moved.body['id']}/undo")
    carried_out(Campaign.objects.get())
    undone = [api.post(f"/campaigns/{moved.body['id']}/undo", {"reason": "no"}, Idempotency_Key="k") for _ in range(2)]

    assert (moved.body["by_seconds"], moved.body["at"], early.code) == (3600, None, "SCH_422_INVALID")
    assert "cancel what is left" in early.body["detail"]
    assert undone[0].body["id"] == undone[1].body["id"] and undone[0].body["undoes"] == moved.body["operation"]
    assert ScheduleTask.objects.get(id=task).due_at == MONDAY + timedelta(hours=1)
    carried_out(Campaign.objects.get(id=undone[0].body["id"]))
    assert ScheduleTask.objects.get(id=task).due_at == MONDAY
    nothing = api.post(f"/campaigns/{undone[0].body['id']}/undo")
    assert (nothing.code, api.post("/campaigns/999999/undo").status) == ("SCH_422_INVALID", 404)
    older = api.post(f"/campaigns/{older_than_undo(task).id}/undo")
    assert older.code == "SCH_422_INVALID" and "it is older than undo" in older.body["detail"]


def test_the_list_has_pages_and_filters(api):
    ids = [begun(Verb.CANCEL, [n + 1]).id for n in range(3)]
    Campaign.objects.update(tenant="default")
    Campaign.objects.filter(id=ids[0]).update(state="DONE")

    first = api.get("/campaigns?limit=2").body
    rest = api.get(f"/campaigns?limit=2&after={first['next']}").body

    assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None
    assert [one["id"] for one in api.get("/campaigns?state=DONE").body["items"]] == ids[:1]
    assert api.get("/campaigns?kind=move").body["items"] == []


def test_those_of_other_tenants_and_of_all_are_not_there(api):
    theirs, everybodys = begun(Verb.CANCEL, [1]), begun(Verb.CANCEL, [2])
    Campaign.objects.filter(id=theirs.id).update(tenant="acme")

    assert api.get("/campaigns").body["items"] == []
    for one in (theirs, everybodys):
        assert api.get(f"/campaigns/{one.id}").code == "SCH_404_NOT_FOUND"
        assert api.post(f"/campaigns/{one.id}/cancel").code == "SCH_404_NOT_FOUND"
    assert set(Campaign.objects.values_list("state", flat=True)) == {"RUNNING"}


def test_a_campaign_takes_only_what_the_token_may_use(api):
    mine = scheduled("mine", at=MONDAY)
    schedule("T_CLOSED", "closed", at=MONDAY)
    schedule("T_QUIET", "urgent", at=MONDAY, lane="critical")
    schedule("T_QUIET", "theirs", at=MONDAY, tenant="acme")

    answer = api.post("/campaigns", {"kind": "cancel", "matching": {}})

    assert answer.status == 201
    assert chosen(answer) == mine
    assert (
        api.post("/campaigns", {"kind": "cancel", "matching": {"task_type": "T_CLOSED"}}).code == "SCH_403_TYPE_CLOSED"
    )
    assert api.post("/campaigns", {"kind": "cancel", "matching": {"lane": "critical"}}).code == "SCH_403_LANE_CLOSED"
    urgent = {"kind": "retry", "matching": {}, "lane": "critical"}
    assert api.post("/campaigns", urgent).code == "SCH_403_LANE_CLOSED"


def test_a_token_of_some_types_names_one_and_sees_no_others():
    ids = scheduled("mine", at=MONDAY)
    schedule("T_PLAIN", "other", at=MONDAY)
    api = token(types=["T_QUIET"])
    everything = begun(Verb.CANCEL, ids)
    Campaign.objects.update(tenant="default")

    refused = api.post("/campaigns", {"kind": "cancel", "matching": {}})
    answer = api.post("/campaigns", {"kind": "cancel", "matching": {"task_type": "T_QUIET"}})

    assert refused.code == "SCH_422_INVALID" and "task_type" in refused.body["detail"]
    assert chosen(answer) == ids
    assert [one["id"] for one in api.get("/campaigns").body["items"]] == [answer.body["id"]]
    assert api.get(f"/campaigns/{everything.id}").status == 404


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"kind": "move", "matching": {}}, "new time"),
        ({"kind": "cancel", "matching": {}, "at": "2090-01-01T00:00:00Z"}, "only a move"),
        ({"kind": "cancel", "matching": {}, "by_seconds": 60}, "only a move"),
        ({"kind": "move", "matching": {}, "by_seconds": 60, "over_seconds": 60}, "at and over"),
        ({"kind": "move", "matching": {}, "over_seconds": 0}, "over_seconds"),
        ({"kind": "undo", "matching": {}}, "kind"),
        ({"kind": "explode", "matching": {}}, "kind"),
        ({"kind": "cancel"}, "matching"),
        ({"kind": "cancel", "matching": {"statsu": "DEAD"}}, "statsu"),
        ({"kind": "cancel", "matching": {}, "cap": 0}, "cap"),
        ({"kind": "cancel", "matching": {}, "rate": 0}, "rate"),
        ({"kind": "retry", "matching": {}, "lane": "fast"}, "lane"),
        ({"kind": "replay", "matching": {}}, "No task was found"),
    ],
)
def test_bad_input_is_told_and_begins_nothing(api, body, told):
    scheduled("a", at=MONDAY)

    answer = api.post("/campaigns", body)

    assert (answer.status, answer.code) == (422, "SCH_422_INVALID")
    assert told in answer.body["detail"]
    assert not Campaign.objects.exists()


def test_a_campaign_that_a_safeguard_holds_names_it(api):
    campaign = backfilled(hours(3), hourly())
    Curb.objects.create(name="failures", subject="", kind="backfills", target="*")

    one, listed = api.get(f"/campaigns/{campaign.id}").body, api.get("/campaigns").body["items"]
    paced = api.patch(f"/campaigns/{campaign.id}", {"rate": 5}).body

    assert [(each["state"], each["held_by"]) for each in (one, *listed, paced)] == [("RUNNING", "failures")] * 3
    Curb.objects.all().delete()
    assert api.get(f"/campaigns/{campaign.id}").body["held_by"] is None
