"""An operator manages jobs in the console, reads the API documentation and issues an API token."""

import re

import httpx
from playwright.sync_api import expect

from tasks_app.models import JobDefinition
from tests.support.browser import person
from tests.support.jobs import make
from tests.support.walks import walks

JOBS = ("punctual.view_jobdefinition", "punctual.operate_jobdefinition")
TASKS = ("punctual.view_scheduletask", "punctual.operate_scheduletask")
TOKENS = ("punctual.view_apitoken", "punctual.operate_apitoken")
VIEW_JOBS, VIEW_TASKS = JOBS[0], TASKS[0]

PHONE = {"width": 400, "height": 800}


@walks("make a job")
def test_an_operator_creates_a_job(walk):
    page = walk.start(person("olga", *JOBS, VIEW_TASKS), "/admin/")

    walk.menu("Jobs")
    walk.click(page.get_by_role("link", name="New job", exact=True))
    walk.fill(page.get_by_label("Name", exact=True), "weekly report")
    walk.fill(page.get_by_label("Task type"), "T_QUIET")
    walk.fill(page.get_by_label("Cron string"), "0 9 * * MON")
    walk.fill(page.get_by_label("Time zone"), "Europe/Berlin")
    walk.fill(page.get_by_label("Reason"), "requested by the sales team")
    walk.click(page.get_by_role("button", name="Save"))

    expect(page).to_have_url(re.compile(r"/jobdefinition/\d+/change/"))  # the form shows the schedule, too
    expect(page.get_by_text("At 09:00 on Monday, Europe/Berlin time")).to_be_visible()
    assert JobDefinition.objects.get().status == "ACTIVE"


@walks("pause a job and ask why")
def test_a_paused_job_shows_why_it_is_not_running(walk):
    make("weekly report", cron="0 9 * * MON")
    page = walk.start(person("olga", *JOBS, VIEW_TASKS), "/admin/")

    walk.menu("Jobs")
    walk.click(page.get_by_role("link", name="weekly report", exact=True))
    walk.click(page.get_by_role("link", name="Pause …"))
    walk.fill(page.get_by_label("Reason"), "mail server maintenance")
    walk.click(page.get_by_role("button", name="Pause"))
    walk.click(page.get_by_role("link", name="Why is it not running?"))

    expect(page.locator("#why")).to_contain_text("Paused by olga: mail server maintenance.")
    assert JobDefinition.objects.get().status == "PAUSED"


def test_the_api_documentation_works_with_our_content_security_policy(visits):
    page = visits.page(person("olga", VIEW_JOBS, VIEW_TASKS), "/api/v1/docs")

    page.get_by_role("link", name="List the task types").click()

    expect(page.get_by_role("button", name="Try it out")).to_be_visible()
    for scheme, dark in (("light", False), ("dark", True)):
        page.emulate_media(color_scheme=scheme)
        assert ("invert" in page.evaluate("getComputedStyle(document.documentElement).filter")) is dark
    expect(page.get_by_role("link", name="All operations")).to_have_attribute("href", "?")


def test_an_issued_token_authenticates_api_requests_and_fits_on_a_phone(visits):
    user = person("olga", *JOBS, *TASKS, *TOKENS)
    page = visits.page(user, "/admin/punctual/apitoken/add/", viewport=PHONE)

    page.get_by_label("Who will use it").fill("billing")
    page.get_by_label("Tenant", exact=True).fill("default")
    page.get_by_label("It may").select_option("operate")
    page.get_by_label("Reason").fill("new billing service")
    page.get_by_role("button", name="Issue the token").click()

    token = page.locator("#token").inner_text()
    response = httpx.get(f"{visits.url}/api/v1/jobs", headers={"Authorization": f"Bearer {token}"})
    assert response.json()["items"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
