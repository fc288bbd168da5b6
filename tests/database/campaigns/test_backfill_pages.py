"""The page of a backfill, the pace of a campaign, what holds one, and the commands."""

import io
import json
from contextlib import suppress

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.watch.campaign_browse import open_campaigns
from tasks_app.lifecycle.campaigns import steps
from tasks_app.models import Campaign, Curb, GraphRun, JobDefinition
from tests.support.backfill import HOUR, backfilled, fired, hourly, hours
from tests.support.browser import person
from tests.support.campaigns import carried_out
from tests.support.clients import client_of
from tests.support.jobs import make
from tests.support.live import a_beat_is_alive

pytestmark = pytest.mark.django_db

VIEW, OPERATE = "punctual.view_scheduletask", "punctual.operate_scheduletask"
VIEW_JOBS, OPERATE_JOBS = "punctual.view_jobdefinition", "punctual.operate_jobdefinition"


@pytest.fixture
def olga():
    return client_of(person("olga", VIEW, OPERATE, VIEW_JOBS, OPERATE_JOBS))


def page_of(job) -> str:
    return f"/admin/punctual/jobdefinition/{job.id}/backfill/"


def typed(client, job, count: int, **changes: object) -> dict:
    """The form as a person fills it in."""
    operation = client.get(page_of(job)).context["form"]["operation"].value()
    times = hours(count)
    given = {"since": f"{times[0]:%Y-%m-%dT%H:%M}", "until": f"{times[-1]:%Y-%m-%dT%H:%M}", "which": "missing"}
    return given | {"order": "oldest", "operation": operation, "cap": 5000, "lane": "backfill"} | changes


def seen(form: dict) -> dict:
    """What the page has shown a dry run of."""
    return {"seen": "|".join(form.get(name, "") for name in ("since", "until", "which", "order", "others", "company"))}


def test_a_person_sees_what_would_run_and_then_begins_it_once(olga):
    job = hourly()
    form = typed(olga, job, 9)

    dry = olga.post(page_of(job), form | {"look": "1"})
    text = dry.content.decode()
    assert dry.status_code == 200 and "9 firings" in text and "Nothing has begun yet" in text
    assert "Backfill 9 firings" in text and not Campaign.objects.exists()

    unsaid = olga.post(page_of(job), form | seen(form) | {"begin": "1"})
    assert unsaid.status_code == 400 and "Say briefly why" in unsaid.content.decode()
    for _ in range(2):
        begun = olga.post(page_of(job), form | seen(form) | {"begin": "1", "reason": "it is back"})
    campaign = Campaign.objects.get()
    assert begun.url == f"/admin/punctual/campaign/{campaign.id}/change/"
    carried_out(campaign)
    assert fired(job) == hours(9)
    assert "instances made" in olga.get(begun.url).content.decode()
    assert f"Campaign {campaign.id}" in olga.get(f"/admin/punctual/jobdefinition/{job.id}/change/").content.decode()


def test_what_was_changed_since_the_dry_run_is_shown_first(olga):
    job = hourly()
    form = typed(olga, job, 9)

    answer = olga.post(page_of(job), form | seen(form) | {"which": "all", "begin": "1", "reason": "x"})

    assert answer.status_code == 200 and "9 firings" in answer.content.decode()
    assert not Campaign.objects.exists()


def test_other_jobs_come_with_it_and_what_makes_no_sense_is_told(olga):
    one, two = hourly("one"), hourly("two")

    assert "18 firings" in olga.post(page_of(one), typed(olga, one, 9, others=f"{two.id}")).content.decode()
    for changes, told in (
        ({"others": "two"}, "is not the number of a job"),
        ({"others": "999999"}, "there is no job 999999"),
        ({"cap": 2}, "more than 2"),
        ({"since": "soon"}, "is not a time"),
        ({"until": "2090-01-01T00:00"}, "in the future"),
    ):
        answer = olga.post(page_of(one), typed(olga, one, 9, **changes))
        assert answer.status_code == 400 and told in answer.content.decode(), changes
    assert olga.post(page_of(one), typed(olga, one, 3, which="failed")).context["foreseen"].instances == 0


def test_what_comes_after_it_comes_along_unless_somebody_says_otherwise(olga):
    root = hourly("root")
    after = make("after", parents=["root"])
    root.refresh_from_db()

    along = olga.post(page_of(root), typed(olga, root, 9)).content.decode()
    form = typed(olga, root, 9, company="alone")
    alone = olga.post(page_of(root), form).content.decode()
    olga.post(page_of(root), form | seen(form) | {"begin": "1", "reason": "only this"})
    carried_out(Campaign.objects.get())

    assert "With them come 9 instances of the jobs after them" in along
    assert "9 firings" in alone and "With them come" not in alone
    assert not GraphRun.objects.exists()
    page = olga.get(page_of(after)).content.decode()
    assert "the job's present schedule: that of root, " in page.replace("&#x27;", "'") and "company" not in page
    assert "9 firings" in olga.post(page_of(after), typed(olga, after, 9)).content.decode()


def test_who_may_not_operate_jobs_has_no_page(olga):
    job = hourly()
    vera = client_of(person("vera", VIEW, VIEW_JOBS))

    assert vera.get(page_of(job)).status_code == vera.post(page_of(job), {}).status_code == 403
    assert "/backfill/" not in vera.get(f"/admin/punctual/jobdefinition/{job.id}/change/").content.decode()
    assert olga.get("/admin/punctual/jobdefinition/999999/backfill/").status_code == 404


def test_the_pace_of_a_campaign_is_changed_on_its_page(olga):
    campaign = backfilled(hours(9), hourly())
    where = f"/admin/punctual/campaign/{campaign.id}/pace/order/"

    assert "Change the pace" in olga.get(where).content.decode()
    assert olga.post(where, {"rate": "0", "reason": "x"}).status_code == 400
    answer = olga.post(where, {"rate": "5", "most_running": "3", "reason": "slower"}, follow=True)
    again = olga.post(where, {"rate": "5", "most_running": "3", "reason": "slower"}, follow=True)

    assert "is at 5 a second, with at most 3 under way" in answer.content.decode()
    assert "nothing was changed" in again.content.decode()
    campaign.refresh_from_db()
    assert (campaign.rate, campaign.most_running) == (5.0, 3)


# ---- held by a safeguard ----

WHY = "safeguard failures: too many tries fail. It continues by itself when that is off."


def held(name: str = "failures", subject: str = "") -> Campaign:
    """A backfill that waits for its next step for long, because a safeguard or a recovery holds backfills."""
    campaign = backfilled(hours(3), hourly())
    Curb.objects.create(name=name, subject=subject, kind="backfills", target="*")
    Campaign.objects.update(next_at=Now() - HOUR, done=1)
    return campaign


def test_the_pages_of_a_held_campaign_name_the_safeguard_and_do_not_say_that_it_is_running(olga):
    a_beat_is_alive()
    campaign = held()

    page, listed, overview, job = (
        olga.get(where).content.decode()
        for where in (
            f"/admin/punctual/campaign/{campaign.id}/change/",
            "/admin/punctual/campaign/",
            "/admin/",
            f"/admin/punctual/jobdefinition/{JobDefinition.objects.get().id}/change/",
        )
    )

    assert f"It is held by {WHY}" in page
    assert "It is running" not in page
    for one in (page, listed, overview, job):
        assert "HELD</span>" in one and "RUNNING</span>" not in one
    assert "by safeguard failures" in listed and "by safeguard failures" in overview
    assert "has been waiting for its next step" not in overview

    Curb.objects.all().delete()
    assert "It is running" in olga.get(f"/admin/punctual/campaign/{campaign.id}/change/").content.decode()
    assert "has been waiting for its next step for" in olga.get("/admin/").content.decode()


def test_the_commands_name_the_safeguard_that_holds_a_campaign():
    campaign = held()

    assert "HELD" in command("campaign", "list")
    assert f"It is held by {WHY}" in command("campaign", "show", str(campaign.id))
    assert json.loads(command("campaign", "show", str(campaign.id), "--json"))["held_by"] == "failures"
    status = io.StringIO()
    with suppress(SystemExit):
        call_command("scheduler_status", stdout=status)
    assert "held by safeguard failures" in status.getvalue()


def test_a_campaign_that_a_recovery_holds_names_its_incident_to_operators(olga):
    campaign = held("recovery", "INC-7")

    page = olga.get(f"/admin/punctual/campaign/{campaign.id}/change/").content.decode()

    assert "It is held by the recovery from INC-7, and continues by itself." in page
    [view] = open_campaigns()
    assert view.hold.outside == "It is held by a recovery, and continues by itself."


def test_a_campaign_that_waits_for_what_it_has_released_says_so_and_why_that_waits(olga):
    campaign = backfilled(hours(3), hourly(), pace=Pace(most_running=2))
    steps.step("beat")
    Curb.objects.create(name="dead_letters", subject="", kind="lane", target="backfill", rate=0.0)

    page = olga.get(f"/admin/punctual/campaign/{campaign.id}/change/").content.decode()

    assert "It waits until some of the 2 tasks that it released are finished: at most 2 may be under way." in page
    assert "by safeguard dead_letters: too many tasks give up." in page
    assert "by safeguard dead_letters" in command("campaign", "show", str(campaign.id))


# ---- the commands ----


def command(*args: str) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


def test_the_command_says_what_it_would_do_and_with_yes_begins_it():
    job, times = hourly(), hours(9)
    given = ("backfill", "report", "--since", times[0].isoformat(), "--until", times[-1].isoformat())

    dry = command(*given, "--rate", "5")
    told = json.loads(command(*given, "--json"))
    assert "9 firings: missing firings of 'report'" in dry and "--yes begins it" in dry
    assert (told["instances"], told["campaign"]) == (9, None) and not Campaign.objects.exists()

    begun = command(*given, "--yes", "--most-running", "2", "--newest-first", "--reason", "it is back")
    campaign = Campaign.objects.get()
    assert f"Campaign {campaign.id} runs 9 firings" in begun
    assert (campaign.most_running, campaign.reason) == (2, "it is back")
    Campaign.objects.update(most_running=None)
    carried_out(campaign)
    assert fired(job)[0] == times[-1]
    with pytest.raises(SystemExit) as nothing:
        command(*given, "--yes")
    assert nothing.value.code == 1


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["nobody"], "no job with the id or name 'nobody'"),
        (["report", "--cap", "0"], "cap=0"),
        (["report", "--lane", "fast", "--yes"], "'fast'"),
        (["report", "--until", "2090-01-01"], "in the future"),
    ],
)
def test_a_command_that_makes_no_sense_ends_with_2(args, told):
    hourly()

    with pytest.raises(CommandError, match=told) as refused:
        command("backfill", *args, "--since", hours(3)[0].isoformat())
    assert refused.value.returncode == 2
    assert not Campaign.objects.exists()


def test_the_command_changes_the_pace_of_a_campaign():
    number = str(backfilled(hours(3), hourly()).id)

    assert "2 a second" in command("campaign", "pace", number, "--rate", "2", "--most-running", "4", "--reason", "x")
    assert "4 at most" in command("campaign", "show", number)
    assert "as fast as it goes" in command("campaign", "pace", number, "--rate", "none", "--reason", "x")
    for bad in (["--rate", "none"], [], ["--rate", "-1"]):
        with pytest.raises(CommandError):
            command("campaign", "pace", number, *bad, "--reason", "x")
    with pytest.raises(CommandError, match="no number"):
        command("campaign", "pace", number, "--rate", "much", "--reason", "x")


def test_the_command_says_what_comes_along_and_can_leave_it_out():
    hourly("root"), make("after", parents=["root"])
    given = ("backfill", "root", "--since", hours(9)[0].isoformat(), "--until", hours(9)[-1].isoformat())

    assert "With them come 9 instances of the jobs after them" in command(*given)
    assert json.loads(command(*given, "--json"))["along"] == 9
    assert json.loads(command(*given, "--json", "--alone"))["along"] == 0
    command(*given, "--alone", "--yes")
    carried_out(Campaign.objects.get())
    assert not GraphRun.objects.exists()
