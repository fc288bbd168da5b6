"""/dead-letters: lists, causes, one; tags; replay and discard."""

import pytest

from tasks_app.engine.operations.api_tokens import issue
from tasks_app.models import AuditEntry, Campaign, CampaignChunk, DlqEntry
from tests.support.api import Api
from tests.support.moves import dead
from tests.support.operators import operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def letters(api) -> list[int]:
    dead("theirs", tenant="acme")
    tasks = dead("a", "b") + dead("c", task_type="T_CLOSED")
    return [DlqEntry.objects.get(task_id=task).id for task in tasks]


def chosen() -> list[int]:
    return [id_ for chunk in CampaignChunk.objects.order_by("number") for id_ in chunk.ids]


def tasks_of(*letters: int) -> list[int]:
    return sorted(DlqEntry.objects.filter(id__in=letters).values_list("task_id", flat=True))


def test_a_list_goes_on_until_there_is_no_next(api, letters):
    seen, after = [], ""
    while after is not None:
        page = api.get(f"/dead-letters?limit=2{after and f'&after={after}'}").body
        seen, after = seen + [one["id"] for one in page["items"]], page["next"]

    assert sorted(seen) == sorted(letters)


def test_filters_narrow_lists_and_groups(api, letters):
    def found(query: str) -> int:
        return len(api.get(f"/dead-letters?{query}").body["items"])

    cause = DlqEntry.objects.get(id=letters[0]).fingerprint
    assert (found("task_type=T_QUIET"), found("tag=odd"), found(f"fingerprint={cause}"), found("job=7")) == (2, 0, 2, 0)
    assert found("until=2001-01-01T00:00:00Z") == 0
    groups = api.get("/dead-letters/groups").body
    assert [one["letters"] for one in groups["items"]] == [2, 1]
    assert api.get("/dead-letters/groups?task_type=T_CLOSED").body["items"][0]["sample"] == letters[2]


def test_a_token_of_some_types_sees_their_letters_alone(letters):
    narrow = Api(token=issue("narrow", "default", operator(), types=["T_QUIET"])[1])

    assert len(narrow.get("/dead-letters").body["items"]) == 2
    assert len(narrow.get("/dead-letters/groups").body["items"]) == 1
    assert narrow.get(f"/dead-letters/{letters[2]}").status == 404


def test_one_is_read_with_its_payload_and_key(api, letters):
    told = api.get(f"/dead-letters/{letters[0]}").body

    assert (told["key"], told["payload"], told["status"], told["error_code"]) == ("a", {}, "OPEN", "HOPELESS")


def test_tags_are_changed_with_a_record(api, letters):
    answer = api.call("PATCH", f"/dead-letters/{letters[0]}", {"add": ["seen"], "reason": "looked at it"})

    assert (answer.status, answer.body["tags"]) == (200, ["seen"])
    assert AuditEntry.objects.get(verb="tag").reason == "looked at it"
    assert [one["id"] for one in api.get("/dead-letters?tag=seen").body["items"]] == [letters[0]]
    assert api.call("PATCH", f"/dead-letters/{letters[0]}", {"add": ["Not This"]}).status == 422
    assert api.call("PATCH", f"/dead-letters/{letters[0]}", {}).status == 422


def test_a_closed_letter_keeps_its_tags(api, letters):
    DlqEntry.objects.filter(id=letters[0]).update(replay_status="CLOSED")

    assert api.call("PATCH", f"/dead-letters/{letters[0]}", {"add": ["seen"]}).code == "SCH_422_INVALID"


@pytest.mark.parametrize("verb", ["replay", "discard"])
def test_an_order_is_a_campaign_of_the_tenants_own_open_types(api, letters, verb):
    answer = api.post(f"/dead-letters/{verb}", {"everything": True, "reason": "mended", "rate": 20, "cap": 100})

    campaign = Campaign.objects.get()
    assert answer.body == {"letters": 2, "complete": True, "taken": 2, "campaign": campaign.id, "state": "RUNNING"}
    assert sorted(chosen()) == tasks_of(*letters[:2])  # neither another tenant's nor those of a closed type
    assert (campaign.tenant, campaign.kind, campaign.rate) == ("default", verb, 20.0)


def test_letters_are_named_by_id_but_only_ones_own_count(api, letters):
    theirs = DlqEntry.objects.get(tenant="acme").id

    answer = api.post("/dead-letters/discard", {"ids": [letters[0], letters[2], theirs], "reason": "x"})

    assert answer.body["taken"] == 1
    assert chosen() == tasks_of(letters[0])


def test_a_dry_run_and_an_order_for_nothing_change_nothing(api, letters):
    dry = api.post("/dead-letters/replay", {"everything": True, "dry_run": True, "cap": 1}).body
    assert (dry["letters"], dry["taken"], dry["campaign"]) == (2, 1, None)
    assert api.post("/dead-letters/replay", {"tag": "none", "reason": "x"}).body["campaign"] is None
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"reason": "x"},
        {"ids": []},
        {"ids": [1], "tag": "odd"},
        {"everything": True, "tag": "odd"},
        {"tag": "Odd"},
        {"tag": "odd", "cap": 0},
        {"tag": "odd", "rate": 0},
        {"tag": "odd", "cap": True},
        {"fingerprint": "zz"},
        {"tag": "odd", "since": "2027-01-02T00:00:00Z", "until": "2027-01-01T00:00:00Z"},
    ],
    ids=str,
)
def test_an_order_that_is_unclear_or_makes_no_sense_is_refused(api, letters, body):
    assert api.post("/dead-letters/replay", body).code == "SCH_422_INVALID"
    assert not Campaign.objects.exists()


def test_the_same_key_begins_one_campaign(api, letters):
    body = {"everything": True, "reason": "mended"}

    first, second = (api.post("/dead-letters/replay", body, Idempotency_Key="k") for _ in range(2))

    assert first.body == second.body
    assert Campaign.objects.count() == 1
