"""The panels in a real browser: one that sees the server go and come back, one that makes a job once, and the form of
the console that says what it would save."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tasks_app.models import JobDefinition
from tests.support.browser import person
from tests.support.jobs import nightly
from tests.support.moves import MONDAY, scheduled, state
from tests.support.walks import walks

VIEW, OPERATE = "punctual.view_jobdefinition", "punctual.operate_jobdefinition"
TASKS, OPERATE_TASKS = "punctual.view_scheduletask", "punctual.operate_scheduletask"
HEALTH = "/admin/punctual/node/health/"
LIST = "/admin/punctual/jobdefinition/"
PHONE = {"width": 400, "height": 800}


@pytest.fixture
def server(web, visits):
    """The one of all tests, which this one may stop: it is there again for the next."""
    yield web
    if not web.processes[-1].alive:
        web.web(port=urlsplit(web.url).port)
    refused = "ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_ABORTED"
    visits.forgive(f"{refused}|ERR_INCOMPLETE_CHUNKED|ERR_CONTENT_LENGTH_MISMATCH")


@walks("cancel a task while the server restarts")
def test_a_panel_and_an_operator_at_work_outlive_their_server(visits, walk, server):
    [task] = scheduled("unwanted", at=MONDAY)
    olaf = walk.start(person("olaf", TASKS, OPERATE_TASKS), "/admin/")
    walk.menu("Tasks")
    olga = person("olga", VIEW, TASKS)
    page = visits.page(olga, viewport=PHONE, locale="zh-CN", color_scheme="dark")
    visits.spent.add(page.context)
    page.clock.install()
    page.goto(HEALTH)
    panel = page.locator("punctual-health")
    expect(panel).to_have_attribute("phase", "done")
    expect(panel).to_contain_text("死信")
    expect(panel.get_by_role("status")).to_contain_text("调度异常：Nothing is dispatched: no beat is alive")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    server.processes[-1].kill()
    olaf.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # he looks at his tab
    expect(olaf.get_by_text("The server isn't answering. What you see is from")).to_be_visible()
    for failed, pause in ((1, 2), (2, 4)):
        page.clock.run_for(1000 * pause)
        expect(panel).to_contain_text(f"拉取失败，重试第 {failed} 次")
    page.clock.run_for(6000)
    expect(panel).to_contain_text("连续失败，前端降级为只读健康摘要")
    expect(panel).to_have_attribute("read-only", "")
    expect(panel).to_contain_text("前")  # the last good state, and its age
    expect(panel.get_by_role("table")).to_have_count(0)

    # Nobody looks: nothing is asked, and at the first look at once.
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("Object.defineProperty(document, 'visibilityState', { get: () => 'hidden', configurable: true })")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.clock.run_for(120_000)
    assert asked == []
    server.web(port=urlsplit(server.url).port)
    assert page.request.get("/api/v1/live").ok  # it listens before it can answer
    page.evaluate("delete document.visibilityState")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(panel.get_by_role("table")).to_be_visible()
    expect(panel).not_to_have_attribute("read-only", "")
    olaf.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # he comes back to his tab
    expect(olaf.get_by_text("The server isn't answering.")).to_be_hidden()
    walk.click(olaf.get_by_label(f"Select task {task},"))
    walk.click(olaf.get_by_role("button", name="Cancel …"))
    walk.fill(olaf.get_by_label("Reason"), "no longer wanted")
    walk.click(olaf.get_by_role("button", name="Cancel 1 task"))
    expect(olaf.get_by_text("1 cancelled")).to_be_visible()
    assert state(task).status == "CANCELLED"

    page.evaluate("document.querySelector('punctual-health').remove()")
    asked.clear()
    page.clock.run_for(60_000)
    assert asked == []


WIDGET = """<!doctype html><title>A page of the host</title><punctual-job></punctual-job>
<script type="module" src="/static/tasks_app/panels/job.js"></script>"""


def test_a_widget_on_a_page_of_the_host_makes_a_job_once(visits):
    olga = person("olga", VIEW, OPERATE, TASKS, OPERATE_TASKS)
    page = visits.page(olga, f"{LIST}add/", viewport=PHONE)  # where there is a form, there is the cookie against CSRF
    policy = {"Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'"}
    page.route("**/of-the-host", lambda route: route.fulfill(body=WIDGET, content_type="text/html", headers=policy))
    page.goto("/of-the-host")
    panel = page.locator("punctual-job")
    panel.get_by_label("Name").fill("coupon_job")
    panel.get_by_label("Cron string").fill("0 */5 * * * ?")
    panel.get_by_label("Time zone").fill("UTC")
    expect(panel).to_contain_text("Every fifth minute of every hour")
    expect(panel.get_by_role("listitem")).to_have_count(5)
    panel.get_by_role("button", name="Create job").click()
    expect(panel).to_have_attribute("phase", "error")
    expect(panel.locator("#task_type-error")).to_contain_text("task_type is missing")

    # The answer gets lost, the page is loaded again, and the same key goes with the same words.
    panel.get_by_label("What runs").select_option("T_QUIET")
    keys = []
    sent = "POST", f"{visits.url}/api/v1/jobs"

    def note(request) -> None:
        if (request.method, request.url) == sent:
            keys.append(request.headers["idempotency-key"])

    page.on("request", note)

    def lose(route):
        route.fetch()
        route.abort()

    page.route("**/api/v1/jobs", lose)
    panel.get_by_role("button", name="Create job").click()
    expect(panel).to_contain_text("The network failed")
    page.unroute("**/api/v1/jobs")
    page.reload()
    expect(panel.get_by_label("Name")).to_have_value("coupon_job")
    expect(panel.get_by_label("What runs")).to_have_value("T_QUIET")
    panel.get_by_role("button", name="Create job").dblclick()
    expect(panel).to_have_attribute("phase", "done")
    page.remove_listener("request", note)
    assert len(set(keys)) == 1
    assert JobDefinition.objects.get().name == "coupon_job"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    page.unroute("**/of-the-host")  # with a route nothing is taken from the cache

    # The console has a page with it, and the list leads there.
    page.goto(LIST)
    page.get_by_role("link", name="New job, short form").click()
    previews = []
    page.route("**/jobs/preview", lambda route: previews.append(route))  # none is answered yet
    panel.get_by_label("Name").fill("call_shop")
    panel.get_by_label("What runs").select_option("HTTP_CALLBACK")
    panel.get_by_label("Address to call").fill("https://shop.example.com/nightly")
    panel.get_by_label("Secret that signs").fill("")
    panel.get_by_label("Time-out").fill("2.5")
    panel.get_by_label("Headers").fill("X-Source")
    panel.get_by_label("Body").fill('{"what": "all"}')
    panel.get_by_label("Cron string").fill("0 2 * * *")
    panel.get_by_role("button", name="Create job").click()
    expect(panel.locator("#headers-error")).to_contain_text("write its name, a colon and its value")
    page.unroute("**/jobs/preview")
    for preview in previews:
        preview.continue_()
    expect(panel).to_contain_text("At 02:00 every day")
    expect(panel.locator("#headers-error")).to_contain_text("write its name, a colon and its value")
    panel.get_by_label("Headers").fill("X-Source: punctual")
    panel.get_by_role("button", name="Create job").click()
    expect(page.get_by_role("link", name="Open the job")).to_be_focused()
    call = {"url": "https://shop.example.com/nightly", "method": "POST", "headers": {"X-Source": "punctual"}}
    job = JobDefinition.objects.get(name="call_shop")
    assert job.payload == call | {"json": {"what": "all"}, "timeout": 2.5, "sign": ""}
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="call_shop").first).to_be_visible()
    visits.forgive("422|ERR_FAILED")


def test_the_form_of_the_console_shows_times_load_and_a_jitter_while_one_types(visits):
    nightly(60)
    page = visits.page(person("olga", VIEW, OPERATE), f"{LIST}add/")
    of_all, of_this = (
        page.get_by_role("heading", level=1).get_by_text(said, exact=True) for said in ("Jobs", "New job")
    )
    for shown in (of_all, of_this):
        expect(shown).to_be_visible()
    page.set_viewport_size(PHONE)
    expect(of_all).to_be_hidden()  # on a phone the heading has room for what the page is
    expect(of_this).to_be_visible()

    page.get_by_label("Name", exact=True).fill("another")  # its delay within a jitter comes from its name
    page.get_by_label("Cron string").fill("0 0 * * MOM")
    expect(page.get_by_role("alert")).to_contain_text("MOM")
    page.get_by_label("Cron string").fill("0 0 * * *")
    expect(page.locator("#draft")).to_contain_text("At 00:00 every day")
    expect(page.locator("#draft").get_by_role("img")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Spread it over").click()
    assert int(page.get_by_label("Spread over this many seconds").input_value()) > 0
    expect(page.get_by_role("button", name="Spread it over")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
