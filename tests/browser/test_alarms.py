"""Alarms in the browser: a channel, a rule and what it found, by keyboard, and on a phone."""

import pytest
from playwright.sync_api import expect

from tasks_app.models import AlarmChannel, AlarmRule
from tests.support.alarms import channel, died, look, rule
from tests.support.browser import person

RULES, CHANNELS, INCIDENTS = (f"/admin/tasks_app/{name}/" for name in ("alarmrule", "alarmchannel", "alarmincident"))


@pytest.fixture
def operator():
    return person("olga", "tasks_app.view_alarmrule", "tasks_app.operate_alarmrule", "tasks_app.view_scheduletask")


def test_a_channel_and_a_rule_are_made_with_the_keyboard_alone(visits, operator):
    page = visits.page(operator, f"{CHANNELS}add/")
    page.get_by_label("Name").focus()
    page.keyboard.type("on call")
    page.get_by_label("Address of the webhook or chat").focus()
    page.keyboard.type("https://hooks.example.com/x")
    page.get_by_label("Reason").focus()
    page.keyboard.type("somebody must know")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("it won't be shown again")).to_be_visible()

    page.goto(f"{visits.url}{RULES}add/")
    for label in ("a task gives up", "on call (webhook, operators)"):
        page.get_by_label(label).focus()
        page.keyboard.press("Space")
    page.get_by_label("Name").focus()
    page.keyboard.type("dying")
    page.get_by_label("Reason").focus()
    page.keyboard.type("somebody must know")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_text("dying was saved")).to_be_visible()
    assert AlarmRule.objects.get().channels == [AlarmChannel.objects.get().id]


def test_what_is_wrong_fits_on_a_phone(visits, operator):
    rule(runbook="https://wiki.example.com/a-very-long-address/that-goes-on-and-on/for-a-page-that-says-what-to-do")
    channel("other")
    died(1_500)
    look()
    page = visits.page(operator, INCIDENTS)
    page.set_viewport_size({"width": 360, "height": 740})
    page.get_by_role("link", name="1,500 tasks of T_QUIET gave up: SMTP_DOWN").click()

    expect(page.get_by_role("heading", name="Alerts")).to_be_visible()
    for path in (page.url.removeprefix(visits.url), RULES, f"{RULES}add/", CHANNELS, f"{CHANNELS}add/", INCIDENTS):
        page.goto(f"{visits.url}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
