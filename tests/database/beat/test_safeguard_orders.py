"""What operators do about safeguards: by function, command, API and page; and how all is seen and told."""

import json
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from tasks_app.core.errors import InvalidTask, NothingToDo
from tasks_app.engine.beat.alarms import looking
from tasks_app.engine.beat.safeguards import pulse
from tasks_app.engine.operations.safeguards import end, forbid, force
from tasks_app.engine.watch.status import read_status
from tasks_app.lifecycle.safeguards.figures import safeguard_figures
from tasks_app.models import AlarmIncident, AuditEntry, Curb, JobDefinition, Pulse, Safeguard, SafeguardIncident
from tests.support.alarms import rule
from tests.support.backfill import hourly
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.ready import boss
from tests.support.safeguards import PATIENT, Beat, look, many, ran, sizes, watched

pytestmark = commits

PAGE = "/admin/punctual/safeguard/"


@pytest.fixture(autouse=True)
def _watched(settings, monkeypatch):
    settings.PUNCTUAL = settings.PUNCTUAL | PATIENT
    monkeypatch.setattr(pulse, "SETTLED_SECONDS", 0.0)
    watched()


def stage(name: str = "delay", subject: str = "") -> int:
    row = Safeguard.objects.filter(name=name, subject=subject).first()
    return row.stage if row else 0


def test_what_is_forced_is_on_for_its_time_and_then_off():
    beat = Beat()
    many("T_QUIET", 3, lane="low")
    force("delay", operator("the sale begins"), stage=2, seconds=600)
    look()
    assert (stage(), sizes(beat.dispatch(), "lane")) == (2, {})
    [incident] = SafeguardIncident.objects.all()
    assert (incident.forced_by, "the sale begins" in incident.sentence) == ("olga", True)

    look(601)
    assert (stage(), sizes(beat.dispatch(), "lane")) == (0, {"low": 3})
    beat.close()


SCOPE = "tenant:default/T_PLAIN"
OF_THE_TENANT_OR_ALL = pytest.mark.parametrize("subject", [SCOPE, "T_PLAIN"], ids=["tenant", "all tenants"])


@OF_THE_TENANT_OR_ALL
def test_what_is_forbidden_stays_off_and_is_free_again_after_its_time(subject):
    forbid("breaker", operator(), subject=subject, seconds=200)
    ran("T_PLAIN", failed=30)
    look()
    assert (stage("breaker", SCOPE), Curb.objects.filter(name="breaker").count()) == (0, 0)

    look(201)
    look()
    assert stage("breaker", SCOPE) == 2


@OF_THE_TENANT_OR_ALL
def test_what_is_ended_ends_at_once_whoever_began_it(subject):
    ran("T_PLAIN", failed=30)
    look()
    assert stage("breaker", SCOPE) == 2

    end("breaker", operator("it was us"), subject=subject)
    look()

    assert (stage("breaker", SCOPE), Curb.objects.count()) == (0, 0)
    assert "it was us" in SafeguardIncident.objects.get().ending
    verbs = AuditEntry.objects.filter(subject=f"safeguard breaker {SCOPE}").order_by("id").values_list("verb", "actor")
    assert list(verbs) == [("begin", "safeguard breaker"), ("end", "olga"), ("end", "safeguard breaker")]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (lambda: force("dely", operator()), "Did you mean 'delay'"),
        (lambda: force("delay", operator(), subject="T_PLAIN"), "about everything"),
        (lambda: force("breaker", operator()), "about one task type"),
        (lambda: force("breaker", operator(), subject="host:a"), "not about hosts"),
        (
            lambda: force("breaker", operator(), subject="T_PLIAN"),
            "no handler here and no job.* Did you mean 'T_PLAIN'",
        ),
        (lambda: forbid("failures", operator(), subject="NOBODYS"), "task type 'NOBODYS' is not known"),
        (lambda: force("dead_letters", operator(), subject="host:"), "host='' must be a host, such as"),
        (lambda: forbid("dead_letters", operator(), subject="host:a b"), "which must be percent-encoded"),
        (lambda: force("delay", operator(), stage=3), "stages 1 to 2"),
        (lambda: force("delay", operator(), seconds=0), "1 second to 30 days"),
        (lambda: force("profile", operator()), "can't be forced"),
        (lambda: end("delay", operator()), "neither on, nor forced"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(order, words):
    with pytest.raises(InvalidTask, match=words) as refused:
        order()

    assert isinstance(refused.value, NothingToDo) == ("neither" in words)
    assert Safeguard.objects.count() == 0


def test_a_type_that_this_process_has_no_handler_for_is_known_by_its_job_or_by_what_ran():
    JobDefinition.objects.filter(id=hourly("theirs").id).update(task_type="THEIRS")
    Pulse.objects.create(minute=Now(), lane="default", task_type="RAN", ok=1, failed=0, run_us=1, lateness=[])

    assert force("breaker", operator(), subject="THEIRS").subject == "THEIRS"
    assert forbid("breaker", operator(), subject="RAN").subject == "RAN"


def test_a_host_is_known_by_the_name_that_its_calls_have():
    force("dead_letters", operator(), subject="host:API.Example.com:443")
    look()

    assert Curb.objects.get().target == "api.example.com"
    end("dead_letters", operator(), subject="host:api.example.com")


def rules(*words: str) -> str:
    out = StringIO()
    call_command("rules", *words, stdout=out)
    return out.getvalue()


def test_the_command_lists_and_orders_and_says_what_was_done():
    assert "within seconds" in rules(
        "force", "delay", "--stage", "2", "--for", "2h", "--reason", "a sale", "--by", "olga"
    )
    look()

    assert "lane low is paused" in rules("list") and "force by olga until" in rules("list")
    assert "olga wanted it so: a sale" in rules("history")
    found = json.loads(rules("list", "--json"))
    assert [one["name"] for one in found if one["subjects"]] == ["delay"]
    assert json.loads(rules("history", "--json"))[0]["closed_at"] is None
    rules("end", "delay", "--reason", "it is over")
    with pytest.raises(CommandError, match="Did you mean 'T_PLAIN'"):
        rules("force", "breaker", "T_PLIAN", "--reason", "x")
    with pytest.raises(CommandError, match="is not a length of time"):
        rules("forbid", "delay", "--for", "soon", "--reason", "x")


def test_the_api_does_the_same_for_operators():
    api = boss()
    made = api.post("/safeguards/delay/force", {"seconds": 600, "stage": 2, "reason": "a sale"})
    assert (made.status, made.body["order"]) == (200, "force")
    look()

    [delay] = [one for one in api.get("/safeguards").body["items"] if one["name"] == "delay"]
    assert delay["subjects"][0]["actions"] == ["lane low is paused"]
    assert [one["name"] for one in api.get("/safeguards/incidents").body["items"]] == ["delay"]
    assert api.post("/safeguards/delay/end", {"reason": "over"}).status == 200
    assert api.post("/safeguards/breaker/forbid", {"reason": "x"}).code == "SCH_422_INVALID"
    refused = api.post("/safeguards/breaker/force", {"subject": "T_PLIAN", "reason": "x"})
    assert (refused.code, "Did you mean 'T_PLAIN'" in refused.body["detail"]) == ("SCH_422_INVALID", True)


def test_the_page_shows_orders_and_a_banner_on_every_page():
    olga = client_of(
        person("olga", "punctual.view_safeguard", "punctual.operate_safeguard", "punctual.view_scheduletask")
    )
    assert "no limit was passed" in olga.get(PAGE).content.decode()
    given = {"subject": "", "stage": "2", "length": "2h", "reason": "a sale", "operation": str(uuid4())}
    assert olga.post(f"{PAGE}delay/force/", given).status_code == 302
    assert olga.post(f"{PAGE}delay/force/", given).status_code == 302  # sent twice, done once
    look()

    page = olga.get(PAGE).content.decode()
    assert "lane low is paused" in page and "olga wanted it so: a sale" in page
    assert "Safeguard delay has been on" in olga.get("/admin/punctual/node/").content.decode()
    assert "is not a length of time" in olga.post(f"{PAGE}delay/forbid/", given | {"length": "x"}).content.decode()
    wrong = olga.post(f"{PAGE}breaker/force/", given | {"subject": "T_PLIAN", "operation": str(uuid4())})
    assert (wrong.status_code, "Did you mean &#x27;T_PLAIN&#x27;" in wrong.content.decode()) == (400, True)
    assert olga.get(f"{PAGE}delay/stop/").status_code == 404
    assert AuditEntry.objects.filter(verb="force").count() == 1


def test_who_may_only_look_gives_no_orders_and_who_may_not_sees_nothing():
    vera = client_of(person("vera", "punctual.view_safeguard", "punctual.view_scheduletask"))
    noah = client_of(person("noah", "punctual.view_jobdefinition"))

    assert (vera.get(PAGE).status_code, vera.get(f"{PAGE}delay/force/").status_code) == (200, 403)
    assert noah.get(PAGE).status_code == 403


def test_it_is_a_notice_an_alarm_and_a_figure():
    rule("acting", tenant=None, conditions=("safeguard",))
    force("delay", operator(), stage=2)
    look()
    looking._looked_at["trouble"] = -looking.TROUBLE_SECONDS
    looking.look()

    assert "safeguards_act" in read_status().broken
    [incident] = AlarmIncident.objects.all()
    assert (incident.condition, incident.cause) == ("safeguard", "delay")
    assert "lane low is paused" in incident.sample["sentence"]
    figures = safeguard_figures()
    assert (figures.stages, figures.curbs, figures.forced) == ({("delay", ""): 2}, {"lane": 1}, 1)
