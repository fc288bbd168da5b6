"""The pages of campaigns and the command: what they show, who may do what, and bad input."""

import io
import json
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from tasks_app.lifecycle.operate import Verb
from tasks_app.models import AuditEntry, Campaign
from tests.support.browser import person
from tests.support.campaigns import begun, carried_out, measured, older_than_undo
from tests.support.clients import client_of, page
from tests.support.engine import run_due
from tests.support.moves import MONDAY, dead, scheduled

pytestmark = pytest.mark.django_db

VIEW, OPERATE = "punctual.view_scheduletask", "punctual.operate_scheduletask"
LIST = "/admin/punctual/campaign/"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", VIEW, OPERATE))


@pytest.fixture
def viewer():
    return client_of(person("vera", VIEW))


def test_the_page_of_one_says_how_far_it_is_and_what_came_of_it(viewer):
    campaign = carried_out(begun(Verb.REPLAY, [*dead("a", "b"), 999_999]))
    run_due()
    measured(campaign)

    text = page(viewer, f"{LIST}{campaign.id}/change/")

    for words in ("3 of 3 tasks", "It is done.", "started over", "no longer there", "succeeded", "campaign, started"):
        assert words in text, words
    assert "Pause" not in text


def test_one_that_fails_and_one_that_was_cut_say_so(viewer):
    campaign = begun(Verb.CANCEL, scheduled("a", "b", at=MONDAY), cap=1)
    Campaign.objects.update(failures=3, error=SCRIPT)

    text = page(viewer, f"{LIST}{campaign.id}/change/")

    assert "Its last 3 steps failed" in text and "More tasks matched" in text
    assert SCRIPT not in text and "&lt;script&gt;" in text
    assert f"Campaign {campaign.id} doesn&#x27;t get on" in page(viewer, "/admin/")


def test_the_list_finds_by_state_kind_and_tenant_and_has_pages(viewer, monkeypatch):
    monkeypatch.setattr("tasks_app.admin.campaigns.PAGE", 2)
    ids = [begun(Verb.CANCEL, [n + 1]).id for n in range(3)]
    Campaign.objects.filter(id=ids[0]).update(state="DONE", tenant="acme", kind="retry")

    assert [one.id for one, _ in viewer.get(LIST).context["found"]] == ids[:0:-1]
    following = viewer.get(f"{LIST}?{viewer.get(LIST).context['next']}").context
    assert ([one.id for one, _ in following["found"]], following["next"]) == (ids[:1], "")
    for query in ("state=DONE", "tenant=acme", "kind=retry"):
        assert [one.id for one, _ in viewer.get(f"{LIST}?{query}").context["found"]] == ids[:1]
    assert "No campaign matches" in page(viewer, f"{LIST}?tenant=nobody")
    assert viewer.get(f"{LIST}?after=x").status_code == 400


def test_it_is_paused_resumed_and_cancelled_with_a_reason(operator):
    campaign = begun(Verb.CANCEL, scheduled("a", at=MONDAY))

    for verb, state in (("pause", "PAUSED"), ("resume", "RUNNING"), ("cancel", "CANCELLED")):
        path = f"{LIST}{campaign.id}/{verb}/order/"
        assert f"{verb.title()} campaign {campaign.id}" in page(operator, path)
        assert operator.post(path, {"reason": " "}).status_code == 400
        assert operator.post(path, {"reason": "it has to be"}, follow=True).status_code == 200
        campaign.refresh_from_db()
        assert campaign.state == state
    again = operator.post(f"{LIST}{campaign.id}/pause/order/", {"reason": "again"}, follow=True)

    assert b"was cancelled already; nothing was changed" in again.content
    told = AuditEntry.objects.filter(subject=f"campaign {campaign.id}", actor="olga").order_by("id")
    assert [entry.verb for entry in told if entry.verb != "campaign"] == ["pause", "resume", "cancel"]


def test_who_may_only_look_finds_no_button_and_can_do_nothing(viewer):
    campaign = begun(Verb.CANCEL, scheduled("a", at=MONDAY))

    assert "order/" not in page(viewer, f"{LIST}{campaign.id}/change/")
    for method in (viewer.get, viewer.post):
        assert method(f"{LIST}{campaign.id}/cancel/order/", {"reason": "x"}).status_code == 403
    for path in ("add/", f"{campaign.id}/delete/"):
        assert viewer.get(LIST + path).status_code == 403
    campaign.refresh_from_db()
    assert campaign.state == "RUNNING"


def test_strangers_see_nothing():
    campaign = begun(Verb.CANCEL, scheduled("a", at=MONDAY))
    sam = client_of(person("sam"))

    for path in ("", f"{campaign.id}/change/", f"{campaign.id}/cancel/order/"):
        assert sam.get(LIST + path).status_code == 403, path


def test_what_is_not_there_is_not_found(operator):
    for path in ("7/change/", "x/change/", "7/cancel/order/"):
        page(operator, LIST + path, code=404)
    campaign = begun(Verb.CANCEL, [1])
    page(operator, f"{LIST}{campaign.id}/explode/order/", code=404)


def test_the_overview_lists_those_that_are_not_over(viewer):
    done, running = carried_out(begun(Verb.CANCEL, [1])), begun(Verb.CANCEL, [2])

    text = page(viewer, "/admin/")

    assert f"campaign/{running.id}/change/" in text
    assert f"campaign/{done.id}/change/" not in text


# ---- the command ----


def command(*args: str) -> str:
    out = io.StringIO()
    call_command("campaign", *args, stdout=out)
    return out.getvalue()


def test_the_command_lists_shows_and_changes():
    assert command("list") == "No campaign.\n"
    campaign = begun(Verb.REPLAY, dead("a"), rate=2.0)
    number = str(campaign.id)

    assert "replay   RUNNING   0 of 1" in command("list", "--state", "RUNNING")
    assert "PAUSED" in command("pause", number, "--reason", "wait", "--by", "olga")
    assert json.loads(command("show", number, "--json"))["state"] == "PAUSED"
    command("resume", number, "--reason", "go on")
    carried_out(campaign)
    shown = command("show", number)
    assert "replayed    1" in shown and "2 a second" in shown and "1 not over yet" in shown
    with pytest.raises(CommandError, match="was done already"):
        command("cancel", number, "--reason", "too late")
    for bad in (["show", "999"], ["pause", "999", "--reason", "x"], ["list", "--limit", "0"]):
        with pytest.raises(CommandError):
            command(*bad)
    with pytest.raises(CommandError, match="reason is empty"):
        command("pause", number, "--reason", " ")


def test_the_command_starts_a_move_says_what_it_would_do_and_undoes_it():
    scheduled("a", "b", at=MONDAY)
    order = ["start", "move", "--state", "INIT", "--reason", "later", "--shift", "+2h"]

    foretold = command(*order, "--dry-run")
    assert "2 tasks; nothing was changed" in foretold and "T_QUIET in lane default" in foretold
    assert "2090-01-02 11:00:00 to 2090-01-02 11:00:00 UTC" in foretold and not Campaign.objects.exists()
    assert json.loads(command(*order, "--dry-run", "--json"))["kinds"][0]["tasks"] == 2
    assert "new time    2 h later" in command(*order)
    moved = carried_out(Campaign.objects.get())
    undo = json.loads(command("undo", str(moved.id), "--reason", "not today", "--json"))
    assert carried_out(Campaign.objects.get(id=undo["id"])).counts == {"put back": 2}
    for bad in (["--shift", "soon"], ["--shift", "1h", "--spread", "1h"], ["--spread", "0s"]):
        with pytest.raises(CommandError):
            command("start", "move", "--reason", "x", *bad)
    with pytest.raises(CommandError, match="only a move"):
        command("start", "cancel", "--reason", "x", "--shift", "1h")


def test_what_cannot_be_undone_is_not_offered_and_says_why(operator, viewer):
    [task] = scheduled("a", at=MONDAY)
    moved = older_than_undo(task)
    report = f"/admin/punctual/scheduletask/operation/{moved.operation}/"
    why = "it is older than undo"

    for where in (f"{LIST}{moved.id}/change/", report):
        text = page(operator, where)
        assert why in text and "undo/" not in text
        assert why not in page(viewer, where)
    answer = operator.post(f"{report}undo/", {"operation": str(uuid4()), "reason": "no"})
    assert answer.status_code == 400 and why in answer.content.decode()
    assert 'name="reason"' not in page(operator, f"{report}undo/")
    with pytest.raises(CommandError, match=why):
        command("undo", str(moved.id), "--reason", "no")
    Campaign.objects.filter(id=moved.id).update(operation=uuid4())  # as if its entries had been pruned
    assert "are no longer kept" in page(operator, f"{LIST}{moved.id}/change/")
    with pytest.raises(CommandError, match="are no longer kept"):
        command("undo", str(moved.id), "--reason", "no")
    replay = begun(Verb.REPLAY, dead("b"))
    with pytest.raises(CommandError, match="is not over"):
        command("undo", str(replay.id), "--reason", "no")
    with pytest.raises(CommandError, match="moved and cancelled no task"):
        command("undo", str(carried_out(replay).id), "--reason", "no")
    assert Campaign.objects.count() == 2


def test_the_status_names_those_that_are_not_over():
    begun(Verb.CANCEL, [1, 2])
    out = io.StringIO()

    with pytest.raises(SystemExit):  # nobody dispatches in this test
        call_command("scheduler_status", stdout=out)

    assert "cancel   running  0 of 2 by olga" in out.getvalue()
