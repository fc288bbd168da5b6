"""The pages of alarms: what they show, what they change, who may, and bad input."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import override_settings

from tasks_app.core.alarms import Condition, Occurrence
from tasks_app.core.said import said, said_of
from tasks_app.lifecycle.alarms.channels import target_of
from tasks_app.lifecycle.alarms.incidents import note
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmIncident, AlarmRule, AuditEntry
from tests.support.alarms import ADDRESS, LOCAL, channel, died, look, rule
from tests.support.browser import person
from tests.support.clients import client_of, page
from tests.support.http_receiver import http_receiver
from tests.support.jobs import make

pytestmark = pytest.mark.django_db(transaction=True)

RULES, CHANNELS, INCIDENTS = (f"/admin/punctual/{name}/" for name in ("alarmrule", "alarmchannel", "alarmincident"))
VIEW, OPERATE = "punctual.view_alarmrule", "punctual.operate_alarmrule"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def operator():
    return client_of(person("olga", VIEW, OPERATE))


def rule_form(*channels: AlarmChannel, **more) -> dict:
    given = {"name": "dying", "tenant": "default", "conditions": ["dead"], "enabled": "on"}
    given |= {"channels": [one.id for one in channels], "repeat_minutes": "30", "quiet_minutes": "10"}
    return given | {"reason": "they asked", "operation": str(uuid4())} | more


def channel_form(**more) -> dict:
    given = {"name": "ops", "tenant": "default", "kind": "webhook", "url": ADDRESS, "most_per_hour": "60"}
    return given | {"enabled": "on", "reason": "they asked", "operation": str(uuid4())} | more


# ---- channels ----


def test_a_channel_is_made_and_its_secret_is_shown_once(operator):
    answer = operator.post(f"{CHANNELS}add/", channel_form())
    shown = answer.content.decode()
    made = AlarmChannel.objects.get()

    assert answer.status_code == 200 and "no-store" in answer.headers["Cache-Control"]
    assert target_of(made).secret in shown
    for path in (CHANNELS, f"{CHANNELS}{made.id}/change/", f"{CHANNELS}{made.id}/edit/"):
        again = page(operator, path)
        assert "whsec_" not in again and "secret-part" not in again
    assert "https://hooks.example.com" in page(operator, CHANNELS)


def test_a_form_that_is_sent_twice_makes_one_channel(operator):
    sent = channel_form()
    operator.post(f"{CHANNELS}add/", sent)
    assert operator.post(f"{CHANNELS}add/", sent).url == CHANNELS
    assert AlarmChannel.objects.count() == 1


def test_a_channel_is_edited_without_its_address_being_typed_again(operator):
    made = channel()
    sent = {"name": "renamed", "url": "", "most_per_hour": "5", "reason": "too loud", "operation": str(uuid4())}
    answer = operator.post(f"{CHANNELS}{made.id}/edit/", sent | {"revision": "1"})

    edited = AlarmChannel.objects.get()
    assert answer.url == f"{CHANNELS}{made.id}/change/"
    assert (edited.name, edited.most_per_hour, edited.enabled, target_of(edited).url) == ("renamed", 5, False, ADDRESS)
    stale = operator.post(f"{CHANNELS}{made.id}/edit/", sent | {"operation": str(uuid4()), "revision": "1"})
    assert stale.status_code == 400 and "somebody changed it" in stale.content.decode()


def test_the_test_button_says_what_came_of_it(operator):
    with http_receiver() as hook, override_settings(PUNCTUAL=settings.PUNCTUAL | {"OUTGOING_ALLOW": LOCAL}):
        made = channel(url=hook.url)
        good = operator.post(f"{CHANNELS}{made.id}/test/", follow=True).content.decode()
        hook.status = 503
        bad = operator.post(f"{CHANNELS}{made.id}/test/", follow=True).content.decode()

    assert "The test alert was sent: answered 200" in good and "The test alert could not be sent." in bad
    assert AlarmAlert.objects.filter(kind="test").count() == len(hook.got) == 2
    assert operator.get(f"{CHANNELS}{made.id}/test/").status_code == 405


def test_a_channel_that_a_rule_names_stays(operator):
    made = rule()
    to = made.channels[0]
    sent = {"reason": "x", "operation": str(uuid4())}
    answer = operator.post(f"{CHANNELS}{to}/delete/", sent)
    assert answer.status_code == 400 and "is named by" in answer.content.decode()

    operator.post(f"{RULES}{made.id}/delete/", sent | {"operation": str(uuid4())})
    assert operator.post(f"{CHANNELS}{to}/delete/", sent | {"operation": str(uuid4())}).url == CHANNELS
    assert not AlarmChannel.objects.exists() and not AlarmRule.objects.exists()


BAD_CHANNELS = [
    ({"name": ""}, "required"),
    ({"kind": "pigeon"}, "valid choice"),
    ({"url": "https://user:pw@example.com/"}, "user name or a password"),
    ({"url": "http://169.254.169.254/"}, "link-local"),
    ({"kind": "email"}, "has no url"),
    ({"most_per_hour": "0"}, "greater than or equal to 1"),
    ({"reason": " "}, "Say briefly why"),
    ({"operation": "x"}, "UUID"),
]


def test_a_bad_channel_is_refused_and_nothing_is_written(operator):
    for bad, words in BAD_CHANNELS:
        answer = operator.post(f"{CHANNELS}add/", channel_form(**bad))
        assert answer.status_code == 400 and words in answer.content.decode(), bad
        assert not AlarmChannel.objects.exists(), bad


# ---- rules ----


def test_a_rule_is_made_shown_changed_and_deleted(operator):
    to = channel()
    assert operator.post(f"{RULES}add/", rule_form(to, task_types="T_*, MAIL_*")).url == RULES
    made = AlarmRule.objects.get()
    assert (made.tenant, made.task_types, made.repeat_seconds) == ("default", ["T_*", "MAIL_*"], 1_800)
    assert "a task gives up" in page(operator, RULES) and "T_*, MAIL_*" in page(operator, RULES)

    one = f"{RULES}{made.id}/change/"
    assert re.search(r'value="dead"[^>]*checked', page(operator, one))
    same = operator.post(one, rule_form(to, task_types="T_*, MAIL_*", revision="1"))
    assert "nothing has changed" in same.content.decode()
    sent = rule_form(to, conditions=["dead", "running"], running_seconds="600", revision="1")
    assert operator.post(one, sent).url == RULES
    assert "a task runs too long: more than 10 min" in page(operator, RULES)

    operator.post(f"{RULES}{made.id}/delete/", {"reason": "done", "operation": str(uuid4())})
    assert not AlarmRule.objects.exists()
    verbs = AuditEntry.objects.filter(subject=f"alarm rule {made.id}").order_by("id").values_list("verb", flat=True)
    assert list(verbs) == ["create", "edit", "delete"]


def test_an_empty_tenant_means_all_of_them(operator):
    to = channel(tenant=None)
    operator.post(f"{RULES}add/", rule_form(to, tenant="", conditions=["trouble"]))
    assert AlarmRule.objects.get().tenant is None


def test_a_page_can_suggest_what_a_rule_is_about(operator):
    job = make()
    shown = page(operator, f"{RULES}add/?job={job.id}&tenant=default")
    assert re.search(rf'name="job"[^>]*value="{job.id}"', shown)


BAD_RULES = [
    ({"conditions": []}, "required"),
    ({"conditions": ["dies"]}, "valid choice"),
    ({"channels": [999]}, "valid choice"),
    ({"conditions": ["late"]}, "needs late_seconds"),
    ({"running_seconds": "5"}, "leave running_seconds out"),
    ({"job": "999"}, "there is no job 999"),
    ({"quiet_minutes": "0"}, "from 60 to"),
    ({"runbook": "wiki"}, "https:// or http://"),
    ({"reason": ""}, "Say briefly why"),
]


def test_a_bad_rule_is_refused_and_nothing_is_written(operator):
    to = channel()
    for bad, words in BAD_RULES:
        answer = operator.post(f"{RULES}add/", rule_form(to, **bad))
        assert answer.status_code == 400 and words in answer.content.decode(), bad
        assert not AlarmRule.objects.exists(), bad


# ---- incidents ----


def test_what_is_wrong_is_shown_with_its_alerts(operator):
    made = rule(runbook="https://wiki.example.com/mail")
    died(3, code=SCRIPT)
    look()
    one = AlarmIncident.objects.get()

    listed = page(operator, f"{INCIDENTS}?show=open&rule={made.id}")
    assert "3 tasks of T_QUIET gave up" in listed and SCRIPT not in listed
    shown = page(operator, f"{INCIDENTS}{one.id}/")
    assert "https://wiki.example.com/mail" in shown and "waiting" in shown and SCRIPT not in shown
    assert f"?show=open&amp;rule={made.id}" in page(operator, RULES)
    AlarmIncident.objects.update(closed_at=one.seen_at, outcome="WELL")
    assert "No incident matches" in page(operator, f"{INCIDENTS}?show=open")


def test_titles_are_in_the_language_of_the_page(operator):
    rule(tenant=None, conditions=("dead", "trouble"))
    died(3, code="SMTP_DOWN")
    look()
    sentence = said_of("{count} beat", "{count} beats", 2, count="2")
    sentence = said("{what}: {why}", what=sentence, why=said("late by {time}", time=timedelta(hours=2)))
    note([Occurrence(Condition.TROUBLE, None, "no_worker", sample={"sentence": sentence})])

    listed = operator.get(f"{INCIDENTS}?show=open", headers={"accept-language": "zh-CN"}).content.decode()

    assert "3 个 T_QUIET 任务最终失败：SMTP_DOWN" in listed
    assert "2 beats：late by 2 小时" in listed  # a sentence that has words in the catalogue, and some that has not
    assert "2 beats: late by 2 h" in page(operator, f"{INCIDENTS}?show=open")


def test_a_long_list_has_pages(operator):
    rule()
    for number in range(51):
        died(1, code=f"E{number}")
    look()
    following = re.search(r'href="\?([^"]*after=\d+)"', page(operator, INCIDENTS))[1]
    assert page(operator, f"{INCIDENTS}?{following}").count('<th scope="row"') == 1


# ---- rights ----


def paths() -> list[str]:
    made = rule()
    died()
    look()
    to, one = AlarmChannel.objects.get(), AlarmIncident.objects.get()
    return [
        RULES,
        CHANNELS,
        INCIDENTS,
        f"{INCIDENTS}{one.id}/",
        f"{CHANNELS}{to.id}/change/",
        f"{RULES}add/",
        f"{RULES}{made.id}/change/",
        f"{RULES}{made.id}/delete/",
        f"{CHANNELS}add/",
        f"{CHANNELS}{to.id}/edit/",
        f"{CHANNELS}{to.id}/delete/",
    ]


@pytest.mark.parametrize("who", [(), (OPERATE,), ("punctual.view_scheduletask",)], ids=["nobody", "no view", "tasks"])
def test_who_may_not_look_sees_nothing(who):
    client = client_of(person("sam", *who))
    for path in paths():
        page(client, path, code=403)


def test_who_may_only_look_changes_nothing_even_by_hand():
    known = paths()
    client = client_of(person("vera", VIEW))
    for path in known[:5]:
        assert "/add/" not in page(client, path)
    for path in known[5:]:
        page(client, path, code=403)
        assert client.post(path, rule_form()).status_code == 403
    assert client.post(f"{CHANNELS}{AlarmChannel.objects.get().id}/test/").status_code == 403
    assert AlarmRule.objects.count() == AlarmChannel.objects.count() == 1


@pytest.mark.parametrize("number", ["0", "999", "9" * 30])
def test_what_is_not_there_is_not_found(operator, number):
    for path in (f"{RULES}{number}/change/", f"{CHANNELS}{number}/change/", f"{INCIDENTS}{number}/"):
        page(operator, path, code=404)
