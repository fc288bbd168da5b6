"""`manage.py alarms`: for people and for programs."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from tests.support.alarms import channel, died, look, rule

pytestmark = pytest.mark.django_db(transaction=True)


def alarms(*words: str) -> tuple[str, int]:
    """What it printed, and its exit code."""
    printed = io.StringIO()
    try:
        call_command("alarms", *words, stdout=printed)
    except SystemExit as left:
        return printed.getvalue(), left.code
    return printed.getvalue(), 0


def test_the_list_shows_what_is_open_and_who_is_told():
    assert alarms("list")[1] == 0
    rule(task_types=("T_*",))
    died(3)
    look()

    text, code = alarms("list")
    assert code == 1
    assert "3 tasks of T_QUIET gave up: SMTP_DOWN" in text
    assert "dying [default] T_*: a task gives up" in text
    assert "ops [default] webhook https://hooks.example.com: on" in text and "secret-part" not in text


def test_the_list_for_programs():
    rule()
    died(3)
    look()
    found = json.loads(alarms("list", "--json")[0])
    assert [one["count"] for one in found["incidents"]] == [3]
    assert [one["name"] for one in found["rules"]] == ["dying"]
    assert [one["shown"] for one in found["channels"]] == ["https://hooks.example.com"]


def test_a_test_alert_is_sent_and_its_fate_is_the_exit_code(hook):
    channel(url=hook.url, tenant=None)
    text, code = alarms("test", "ops")
    assert (code, len(hook.got)) == (0, 1) and "The test alert was sent: answered 200" in text

    hook.status = 500
    text, code = alarms("test", "ops", "--json")
    assert (code, json.loads(text)) == (1, {"ok": False, "words": "It answered 500."})


def test_an_unknown_channel_is_refused_by_name():
    channel()
    with pytest.raises(CommandError, match="no alarm channel 'ops' of the operators"):
        alarms("test", "ops")
