"""Rules and channels as people make them: what is refused changes nothing, and who did what is written down."""

import pytest

from tasks_app.core.errors import InvalidTask, NameTaken, NotForTenants, NotThere, StaleRevision
from tasks_app.lifecycle.alarms import channels, rules
from tasks_app.lifecycle.alarms.channels import (
    MOST_CHANNELS,
    ChannelRequest,
    create_channel,
    delete_channel,
    edit_channel,
)
from tasks_app.lifecycle.alarms.rules import RuleRequest, create_rule, delete_rule, edit_rule
from tasks_app.models import AlarmChannel, AlarmRule, AuditEntry
from tasks_app.sealing import seal
from tests.support.alarms import ADDRESS, channel, rule
from tests.support.jobs import make
from tests.support.operators import operator

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"name": ""}, "name is empty"),
        ({"name": "a\x1b"}, "control character"),
        ({"conditions": ()}, "none is given"),
        ({"conditions": ("dies",)}, "'dies' is not a condition; there are dead, late"),
        ({"conditions": ("late",)}, "needs late_seconds"),
        ({"conditions": ("late",), "late_seconds": 1}, "from which on lateness is told at all"),
        ({"late_seconds": 60}, "Add it, or leave late_seconds out"),
        ({"conditions": ("running",), "running_seconds": float("nan")}, "needs running_seconds"),
        ({"conditions": ("running",), "running_seconds": -1}, "needs running_seconds"),
        ({"conditions": ("trouble",)}, "only a rule for all tenants"),
        ({"task_types": ("",)}, "not a pattern"),
        ({"task_types": ("*" * 40 + "z",)}, "a pattern has at most 5"),
        ({"task_types": tuple(f"T{n}" for n in range(51))}, "at most 50"),
        ({"job": 999}, "there is no job 999"),
        ({"channels": ()}, "name 1 to 10"),
        ({"channels": (999,)}, "no alarm channel 999"),
        ({"repeat_seconds": 59}, "from 60 to 604,800"),
        ({"quiet_seconds": True}, "whole seconds"),
        ({"runbook": "javascript:alert(1)"}, "https:// or http://"),
    ],
    ids=str,
)
def test_a_bad_rule_is_refused_and_nothing_is_written(bad, words):
    to = channel()
    before = AuditEntry.objects.count()
    given = {"name": "r", "conditions": ("dead",), "channels": (to.id,)} | bad
    with pytest.raises(InvalidTask, match=words):
        create_rule(RuleRequest(**given), operator(), "default")
    assert not AlarmRule.objects.exists() and AuditEntry.objects.count() == before


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"kind": "pigeon"}, "one of webhook, email, chat"),
        ({"url": "ftp://example.com/x"}, "url: "),
        ({"url": "http://127.0.0.1/x"}, "loopback"),
        ({"url": ""}, "url: "),
        ({"to": ("a@example.com",)}, "has no addresses of people"),
        ({"kind": "email"}, "has no url"),
        ({"kind": "email", "url": ""}, "give 1 to 20"),
        ({"kind": "email", "url": "", "to": ("olga",)}, "'olga' is not a mail address"),
        ({"kind": "email", "url": "", "to": ("a@b.c\nBcc: x@y.z",)}, "is not a mail address"),
        ({"most_per_hour": 0}, "from 1 to 3,600"),
        ({"most_per_hour": True}, "from 1 to 3,600"),
    ],
    ids=str,
)
def test_a_bad_channel_is_refused_and_nothing_is_written(bad, words):
    given = {"name": "c", "kind": "webhook", "url": ADDRESS} | bad
    with pytest.raises(InvalidTask, match=words):
        create_channel(ChannelRequest(**given), operator(), "default")
    assert not AlarmChannel.objects.exists() and not AuditEntry.objects.exists()


def test_mail_is_for_operators_to_set_up_since_it_goes_out_in_the_installations_name():
    request = ChannelRequest(name="c", kind="email", to=("victim@example.com",))
    with pytest.raises(NotForTenants, match="made by its operators"):
        create_channel(request, operator(tenant="acme"), "acme")


def test_a_rule_needs_the_events_that_tell_of_what_it_is_about(settings):
    to = channel()
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["*", "!task.dead"]}
    with pytest.raises(InvalidTask, match=r"needs the event task.dead, which PUNCTUAL\[.EVENTS.\] leaves out"):
        create_rule(RuleRequest("r", ("dead",), (to.id,)), operator(), "default")


def test_a_rule_uses_channels_of_its_tenant_and_a_person_may_lend_it_those_of_the_operators():
    theirs, shared = channel(tenant="acme"), channel("shared", tenant=None)
    with pytest.raises(InvalidTask, match="no alarm channel"):
        rule(channels=[theirs])
    rule(channels=[shared])
    with pytest.raises(InvalidTask, match="no alarm channel"):
        create_rule(RuleRequest("r", ("dead",), (shared.id,)), operator(tenant="acme"), "acme")


def test_an_edit_changes_what_it_names_and_is_refused_if_somebody_was_faster():
    made = rule(task_types=("T_*",))
    edited = edit_rule(made.id, {"name": "other"}, operator(), tenant="default", revision=1)

    assert (edited.name, edited.task_types, edited.revision) == ("other", ["T_*"], 2)
    with pytest.raises(StaleRevision, match="has revision 2 now, and 1 was given"):
        edit_rule(made.id, {"name": "third"}, operator(), tenant="default", revision=1)
    with pytest.raises(NotThere):
        edit_rule(made.id, {"name": "third"}, operator(), tenant="acme")
    with pytest.raises(InvalidTask, match="'colour' is not a field"):
        edit_rule(made.id, {"colour": "red"}, operator(), tenant="default")
    assert AlarmRule.objects.get().name == "other"


def test_a_channel_keeps_its_secret_when_its_address_changes_and_is_tried_again_at_once():
    new = create_channel(ChannelRequest(name="c", kind="webhook", url=ADDRESS), operator(), "default")
    AlarmChannel.objects.update(attempts=9, error="down", next_try_at="2099-01-01T00:00:00Z")
    edited = edit_channel(new.channel.id, {"url": "https://other.example.com/x"}, operator(), tenant="default")

    target = channels.target_of(edited)
    assert (target.url, target.secret) == ("https://other.example.com/x", new.secret)
    assert (edited.shown, edited.attempts, edited.error, edited.next_try_at) == (
        "https://other.example.com",
        0,
        "",
        None,
    )
    with pytest.raises(InvalidTask, match="stays a webhook"):
        edit_channel(edited.id, {"kind": "chat"}, operator(), tenant="default")


def test_a_channel_that_a_rule_names_can_not_be_deleted():
    to = channel()
    made = rule(channels=[to])
    with pytest.raises(InvalidTask, match="named by 'dying'"):
        delete_channel(to.id, operator(), tenant="default")
    delete_rule(made.id, operator(), tenant="default")
    delete_channel(to.id, operator(), tenant="default")
    assert not AlarmChannel.objects.exists()


def test_names_are_taken_within_a_tenant_and_for_all_tenants_alike():
    for tenant in ("default", None):
        rule(tenant=tenant)
        with pytest.raises(NameTaken, match="already"):
            rule(tenant=tenant)
        with pytest.raises(NameTaken, match="already"):
            channel(tenant=tenant)
    rule(tenant="acme")


def test_there_is_an_end_to_how_many_there_can_be(monkeypatch):
    monkeypatch.setattr(rules, "MOST_RULES", 1)
    monkeypatch.setattr(channels, "MOST_CHANNELS", 2)
    assert MOST_CHANNELS == 100
    rule()
    with pytest.raises(InvalidTask, match="the most that there can be"):
        rule("second")
    channel("second")
    with pytest.raises(InvalidTask, match="the most that there can be"):
        channel("third")


def test_who_did_it_and_why_is_written_down():
    made = rule(job=make().id)
    edit_rule(made.id, {"runbook": "https://wiki.example.com/x"}, operator("they moved it"), tenant="default")
    delete_rule(made.id, operator(), tenant="default")

    entries = AuditEntry.objects.filter(subject=f"alarm rule {made.id}").order_by("id")
    assert [one.outcome for one in entries] == ["created", "edited", "deleted"]
    assert {one.tenant for one in entries} == {"default"} and entries[1].reason == "they moved it"
    assert entries[1].detail["after"]["runbook"] == "https://wiki.example.com/x"


def test_a_channel_whose_key_is_gone_says_what_to_do():
    to = channel()
    AlarmChannel.objects.update(target=seal("x", "another row"))
    with pytest.raises(InvalidTask, match=r"can't be read any more .* Make a new channel"):
        edit_channel(to.id, {"name": "other"}, operator(), tenant="default")
