"""Alarms in the browser: a rule, by keyboard."""

import pytest
from playwright.sync_api import expect

from tasks_app.models import AlarmRule
from tests.support.alarms import channel
from tests.support.browser import person


@pytest.fixture
def operator():
    return person("olga", "punctual.view_alarmrule", "punctual.operate_alarmrule", "punctual.view_scheduletask")


def test_a_rule_is_made_with_the_keyboard_alone(visits, operator):
    to = channel("on call", tenant=None)
    page = visits.page(operator, "/admin/punctual/alarmrule/add/")
    for label in ("a task gives up", "on call (webhook, operators)"):
        page.get_by_label(label).focus()
        page.keyboard.press("Space")
    page.get_by_label("Name").focus()
    page.keyboard.type("dying")
    page.get_by_label("Reason").focus()
    page.keyboard.type("somebody must know")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_text("dying was saved")).to_be_visible()
    assert AlarmRule.objects.get().channels == [to.id]
