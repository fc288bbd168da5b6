"""Where no rule is about what somebody should hear of, the overview and the checks say so."""

import pytest
from django.core import checks

from tasks_app.engine.watch.alarm_browse import told_to_nobody
from tasks_app.models import AlarmRule
from tests.support.alarms import rule
from tests.support.browser import person
from tests.support.clients import client_of

pytestmark = pytest.mark.django_db


def test_it_names_what_no_rule_is_about():
    assert told_to_nobody() == (
        "Nobody is told if a task gives up, if tasks wait for one that failed or if the scheduler itself is in "
        "trouble: no alarm rule covers that."
    )
    rule(conditions=("dead", "blocked"))
    assert told_to_nobody() == ("Nobody is told if the scheduler itself is in trouble: no alarm rule covers that.")
    rule("all", tenant=None, conditions=("trouble",))
    assert told_to_nobody() == ""
    AlarmRule.objects.update(enabled=False)
    assert told_to_nobody()


def test_the_overview_and_the_check_say_it():
    olga = client_of(person("olga", "punctual.view_scheduletask"))

    assert "Nobody is told if a task gives up" in olga.get("/admin/").content.decode()
    [said] = [one for one in checks.run_checks(include_deployment_checks=True) if one.id == "punctual.W007"]
    assert (said.msg, "Make a channel and a rule" in said.hint) == (told_to_nobody(), True)

    rule("all", tenant=None, conditions=("dead", "blocked", "trouble"))

    assert "Nobody is told" not in olga.get("/admin/").content.decode()
    assert "punctual.W007" not in {one.id for one in checks.run_checks(include_deployment_checks=True)}
