"""What an operator does with jobs in the browser: make one, see when it fires, pause it, ask why."""

import re

import httpx
from playwright.sync_api import expect

from tasks_app.models import JobDefinition
from tests.support.browser import person
from tests.support.jobs import make
from tests.support.walks import walks

VIEW, OPERATE = "punctual.view_jobdefinition", "punctual.operate_jobdefinition"
JOBS, TASKS = (VIEW, OPERATE), "punctual.view_scheduletask"


@walks("make a job")
def test_a_job_is_made_and_seen(walk):
    page = walk.start(person("olga", *JOBS, TASKS), "/admin/")

    walk.menu("Jobs")
    walk.click(page.get_by_role("link", name="New job", exact=True))
    walk.fill(page.get_by_label("Name", exact=True), "weekly report")
    walk.fill(page.get_by_label("Task type"), "T_QUIET")
    walk.fill(page.get_by_label("Cron string"), "0 9 * * MON")
    walk.fill(page.get_by_label("Time zone"), "Europe/Berlin")
    walk.fill(page.get_by_label("Reason"), "wanted")
    walk.click(page.get_by_role("button", name="Save"))

    expect(page).to_have_url(re.compile(r"/jobdefinition/\d+/change/"))  # the form shows its schedule, too
    expect(page.get_by_text("At 09:00 on Monday, Europe/Berlin time")).to_be_visible()
    assert JobDefinition.objects.get().status == "ACTIVE"


@walks("pause a job and ask why")
def test_a_job_is_paused_and_says_why_it_does_not_run(walk):
    make("weekly report", cron="0 9 * * MON")
    page = walk.start(person("olga", *JOBS, TASKS), "/admin/")

    walk.menu("Jobs")
    walk.click(page.get_by_role("link", name="weekly report", exact=True))
    walk.click(page.get_by_role("link", name="Pause …"))
    walk.fill(page.get_by_label("Reason"), "the mail server is being moved")
    walk.click(page.get_by_role("button", name="Pause"))
    walk.click(page.get_by_role("link", name="Why is it not running?"))
    expect(page.locator("#why")).to_contain_text("Paused by olga: the mail server is being moved.")
    assert JobDefinition.objects.get().status == "PAUSED"


def test_the_page_of_the_api_works_under_our_policy(visits):
    page = visits.page(person("olga", VIEW, "punctual.view_scheduletask"), "/api/v1/docs")

    page.get_by_role("link", name="List the task types").click()

    expect(page.get_by_role("button", name="Try it out")).to_be_visible()  # of the one that was chosen
    for scheme, dark in (("light", False), ("dark", True)):
        page.emulate_media(color_scheme=scheme)
        assert ("invert" in page.evaluate("getComputedStyle(document.documentElement).filter")) is dark
    expect(page.get_by_role("link", name="All operations")).to_have_attribute("href", "?")


def test_a_token_is_issued_and_used(visits):
    """On a page that fits, however long the token is; what becomes of it is in test_token_page.py."""
    rights = [VIEW, OPERATE, "punctual.view_scheduletask", "punctual.operate_scheduletask"]
    rights += ["punctual.view_apitoken", "punctual.operate_apitoken"]
    page = visits.page(person("olga", *rights), "/admin/punctual/apitoken/add/", viewport={"width": 400, "height": 800})

    page.get_by_label("Who will use it").fill("billing")
    page.get_by_label("Tenant", exact=True).fill("default")
    page.get_by_label("It may").select_option("operate")
    page.get_by_label("Reason").fill("they asked")
    page.get_by_role("button", name="Issue the token").click()

    token = {"Authorization": f"Bearer {page.locator('#token').inner_text()}"}
    assert httpx.get(f"{visits.url}/api/v1/jobs", headers=token).json()["items"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
