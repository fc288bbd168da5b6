"""The pages of dead letters: causes, letters, one letter; orders with preview and reason; who may do what."""

from uuid import uuid4

import pytest
from django.test import Client

from django_punctual import schedule
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.retry_limit import ORDERS_A_MINUTE
from tasks_app.models import AuditEntry, Campaign, CampaignChunk, DlqEntry
from tests.support.engine import run_due
from tests.support.moves import dead

pytestmark = pytest.mark.django_db

LIST = "/admin/punctual/dlqentry/"
ORDER, RUN = f"{LIST}order/", f"{LIST}order/run/"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def letters() -> list[DlqEntry]:
    """Two of one cause, one of another."""
    for key, message in enumerate(["order 1 has no address", "order 2 has no address", SCRIPT]):
        payload = {"do": "die", "message": message, "tags": ["odd"] if message == SCRIPT else [], "city": "Ulm"}
        schedule("T_PLAIN", f"key {key}", payload=payload)
    run_due()
    return list(DlqEntry.objects.order_by("task_id"))


def page(client: Client, path: str, status: int = 200, **data) -> str:
    answer = client.get(path, data)
    assert answer.status_code == status
    text = answer.content.decode()
    assert SCRIPT not in text
    return text


def order(verb: str, *ids: int, **more) -> dict:
    scope = {"scope": "chosen", "ids": ",".join(map(str, ids))} if ids else {"scope": "matching", "counted": "3"}
    return {"verb": verb, "reason": "it has to be", "operation": str(uuid4())} | scope | more


def chosen() -> list[int]:
    return sorted(id_ for chunk in CampaignChunk.objects.all() for id_ in chunk.ids)


def test_the_first_page_shows_causes_with_counts_and_curves(viewer, letters):
    answer = viewer.get(LIST)
    text = page(viewer, LIST)

    assert [one.letters for one, _ in answer.context["causes"]] == [2, 1]
    assert "order 2 has no address" in text
    assert text.count('class="pu-spark"') == 2
    assert "in the busiest step" in text
    assert f"cause={letters[0].fingerprint}" in text
    assert "Letter by letter" in text


def test_filters_narrow_it(viewer, letters):
    assert "2 causes" in page(viewer, LIST, type="T_PLAIN")
    assert "One cause" in page(viewer, LIST, tag="odd")
    assert "No open dead letter matches" in page(viewer, LIST, type="T_QUIET")
    assert "No open dead letter matches" in page(viewer, LIST, tenant="acme")
    assert "No open dead letter matches" in page(viewer, LIST, job=7)
    assert "No open dead letter matches" in page(viewer, LIST, until="2001-01-01T00:00")
    assert "2 causes" in page(viewer, LIST, since="2001-01-01T00:00")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"tag": "Odd"}, "won&#x27;t do"),
        ({"cause": "x"}, "16 digits"),
        ({"since": "2027-01-02T00:00", "until": "2027-01-01T00:00"}, "It must be later"),
    ],
)
def test_a_filter_that_makes_no_sense_is_explained(viewer, query, words):
    assert words in page(viewer, LIST, **query)


def test_without_letters_it_says_so(viewer):
    assert "Nothing is dead" in page(viewer, LIST)


def test_a_cause_shows_a_sample_with_payload_stack_and_curve_and_its_letters(viewer, letters):
    text = page(viewer, LIST, cause=letters[0].fingerprint)

    assert "Ulm" in text
    assert "in act" in text
    assert "Over time" in text
    assert f"{LIST}{letters[0].id}/change/" in text
    assert f"{LIST}{letters[2].id}/change/" not in text
    assert "No open dead letter matches" in page(viewer, LIST, cause="0" * 16)


def test_letters_are_listed_page_by_page(viewer, monkeypatch, letters):
    monkeypatch.setattr("tasks_app.admin.letters.PAGE", 2)
    first = viewer.get(LIST, {"show": "letters"})
    second = viewer.get(LIST, {"show": "letters", "after": first.context["page"].next})

    seen = [one.id for answer in (first, second) for one in answer.context["page"].letters]
    assert sorted(seen) == [one.id for one in letters]
    assert page(viewer, LIST, 400, after="x")


def test_one_letter_is_told_in_full(viewer, letters):
    text = page(viewer, f"{LIST}{letters[2].id}/change/")

    assert "waits for somebody" in text
    assert "Ulm" in text
    assert "tests.support.testapp.handlers:act" in text
    assert 'name="verb"' not in text  # she may only look
    page(viewer, f"{LIST}987654321/change/", 404)
    page(viewer, f"{LIST}x/change/", 404)


def test_a_closed_letter_says_how_it_ended_and_offers_nothing(operator, letters):
    replay([letters[0].task_id], by="rae")

    text = page(operator, f"{LIST}{letters[0].id}/change/")

    assert "It was replayed" in text
    assert 'name="verb"' not in text


def test_the_page_of_a_task_links_to_its_letter(viewer, letters):
    assert f"{LIST}{letters[0].id}/change/" in page(
        viewer, f"/admin/punctual/scheduletask/{letters[0].task_id}/change/"
    )


@pytest.mark.parametrize("verb", ["replay", "discard"])
def test_an_order_is_shown_first_and_then_a_campaign(operator, letters, verb):
    asked = {"verb": verb, "scope": "matching", "filter": f"cause={letters[0].fingerprint}"}
    shown = operator.post(ORDER, asked)
    assert shown.status_code == 200
    assert shown.context["foreseen"].letters == 2
    assert f"{verb.capitalize()} 2 tasks" in shown.content.decode()
    assert not Campaign.objects.exists()
    kept = {name: shown.context["form"].initial[name] for name in ("verb", "scope", "ids", "filter", "operation")}

    done = operator.post(RUN, kept | {"reason": "mended", "cap": 50, "rate": 5, "lane": "low"})

    campaign = Campaign.objects.get()
    assert (done.status_code, done.url) == (302, f"/admin/punctual/campaign/{campaign.id}/change/")
    assert chosen() == [letters[0].task_id, letters[1].task_id]
    assert (campaign.kind, campaign.cap, campaign.rate, campaign.reason) == (verb, 50, 5.0, "mended")
    operator.post(RUN, kept | {"reason": "mended"})
    assert Campaign.objects.count() == 1  # sent twice, begun once


def test_some_letters_are_chosen_by_ticking_them(operator, letters):
    asked = {"verb": "discard", "scope": "chosen", "ids": [str(letters[0].id), str(letters[2].id)]}
    assert operator.post(ORDER, asked).context["foreseen"].letters == 2

    operator.post(RUN, order("discard", letters[0].id, letters[2].id))

    assert chosen() == [letters[0].task_id, letters[2].task_id]


def test_nothing_ticked_is_said_and_nothing_done(operator, letters):
    answer = operator.post(ORDER, {"verb": "replay", "scope": "chosen"}, follow=True)

    assert "No letter is selected" in answer.content.decode()


def test_without_a_reason_the_order_is_shown_again(operator, letters):
    answer = operator.post(RUN, order("replay", reason=""))

    assert answer.status_code == 400
    assert "Say briefly why" in answer.content.decode()
    assert not Campaign.objects.exists()


def test_an_order_for_what_is_gone_changes_nothing(operator, letters):
    answer = operator.post(RUN, order("replay", filter="tag=none"), follow=True)

    assert "Nothing matches any more" in answer.content.decode()


def test_too_many_orders_to_replay_are_refused_in_words(operator, letters):
    for _ in range(ORDERS_A_MINUTE):
        operator.post(RUN, order("replay"))

    answer = operator.post(RUN, order("replay"))

    assert answer.status_code == 429
    assert "Give one order for all of them, or wait" in answer.content.decode()


MADE_UP = [
    {"verb": "cancel"},
    {"verb": "replay", "scope": "chosen", "ids": "1,x"},
    {"verb": "replay", "scope": "chosen", "ids": ",".join(["1"] * 1001)},
    {"verb": "replay", "scope": "elsewhere"},
    {"verb": "replay", "filter": "tag=Odd"},
    {"verb": "replay", "operation": "x"},
]


@pytest.mark.parametrize("where", [ORDER, RUN])
def test_an_order_made_up_by_hand_is_refused(operator, letters, where):
    for given in MADE_UP:
        assert operator.post(where, order("replay") | given).status_code == 400, given
        assert not Campaign.objects.exists(), given


def test_tags_are_changed_with_a_reason(operator, letters):
    where = f"{LIST}{letters[2].id}/tags/"

    answer = operator.post(where, {"tags": "odd, seen, eu", "reason": "looked at it"}, follow=True)
    assert "tags are now: odd, seen, eu" in answer.content.decode()
    operator.post(where, {"tags": "seen", "reason": "clearer"})

    letters[2].refresh_from_db()
    assert letters[2].tags == ["seen"]
    assert AuditEntry.objects.filter(verb="tag").count() == 2
    assert "looked at it" in page(operator, f"{LIST}{letters[2].id}/change/")
    assert operator.post(where, {"tags": "Not This", "reason": "x"}).status_code == 400
    assert operator.post(where, {"tags": "seen, more", "reason": ""}).status_code == 400
    assert "already" in operator.post(where, {"tags": "seen", "reason": "x"}, follow=True).content.decode()


def test_who_may_only_look_can_change_nothing_and_who_may_not_look_sees_nothing(viewer, stranger, letters):
    for where in (ORDER, RUN, f"{LIST}{letters[0].id}/tags/"):
        assert viewer.post(where, order("discard")).status_code == 403
        assert stranger.post(where, order("discard")).status_code == 403
    for where in (LIST, f"{LIST}{letters[0].id}/change/"):
        assert stranger.get(where).status_code == 403
    assert 'name="verb"' not in page(viewer, LIST)
    assert 'name="verb"' not in page(viewer, LIST, cause=letters[0].fingerprint)
    assert not Campaign.objects.exists()


def test_an_order_can_not_be_given_by_following_a_link(operator, letters):
    for where in (ORDER, RUN, f"{LIST}{letters[0].id}/tags/"):
        assert operator.get(where).status_code == 405


def test_a_dead_task_can_be_discarded_on_its_own_page(operator):
    [task] = dead("a")

    assert "Discard" in page(operator, f"/admin/punctual/scheduletask/{task}/change/")
