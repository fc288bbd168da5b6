"""What an operator does in the browser: find, retry, cancel, everything that matches, and see who is alive."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from django_punctual import schedule, schedule_many
from tasks_app.lifecycle.logs import Lines, keep_logs
from tasks_app.lifecycle.progress import Told, tell_progress
from tasks_app.models import Campaign, Node, ScheduleTask
from tests.support.audit import deeds
from tests.support.browser import person
from tests.support.campaigns import carried_out
from tests.support.engine import run_due
from tests.support.live import a_beat_is_alive, a_worker_is_alive
from tests.support.moves import MONDAY, dead, scheduled, settled, started, state
from tests.support.site import beat_at
from tests.support.wait import wait_until
from tests.support.walks import WALKS, walks

VIEW, OPERATE = "punctual.view_scheduletask", "punctual.operate_scheduletask"
LIST = "/admin/punctual/scheduletask/"
SITES = "/admin/punctual/site/"


@pytest.fixture
def operator():
    return person("olga", VIEW, OPERATE)


def test_every_walk_is_gone():
    gone = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert [name for name in WALKS if f'@walks("{name}")' not in gone] == []


@walks("retry a dead task")
def test_a_dead_task_is_retried_with_a_reason(walk, operator):
    [task_id] = dead("broken")
    page = walk.start(operator, "/admin/", timezone_id="Europe/Berlin")

    walk.find("broken", page.get_by_role("link", name=re.compile(f"broken.*Task {task_id}")))
    walk.click(page.get_by_role("button", name="Retry now …"))
    expect(page.get_by_text("1 dead: will start over")).to_be_visible()
    page.get_by_role("button", name="Retry 1 task now").press("Enter")
    expect(page.get_by_label("Reason")).to_be_focused()  # the browser itself asks for it
    walk.fill(page.get_by_label("Reason"), "the gateway is back")
    walk.click(page.get_by_role("button", name="Retry 1 task now"))

    expect(page.get_by_text("1 started over")).to_be_visible()
    page.get_by_role("link", name=f"task {task_id}").click()
    expect(page.get_by_text("It is due")).to_be_visible()
    expect(page.get_by_text("the gateway is back")).to_be_visible()
    assert state(task_id).status == "INIT"
    assert deeds().get().actor == "olga"


@walks("move a task")
def test_a_task_is_moved_to_a_time_in_utc(walk, operator):
    [task_id] = scheduled("invoice-42", at=MONDAY)
    page = walk.start(operator, "/admin/", timezone_id="Europe/Berlin")

    walk.find("invoice", page.get_by_role("link", name=re.compile(f"invoice-42.*Task {task_id}")))
    walk.click(page.get_by_role("button", name="Move …"))
    walk.fill(page.get_by_label("New time (UTC)"), "2090-01-03T09:00:00")
    walk.fill(page.get_by_label("Reason"), "a day later")
    walk.click(page.get_by_role("button", name="Move 1 task"))
    expect(page.get_by_text("1 moved")).to_be_visible()
    assert ScheduleTask.objects.get(id=task_id).due_at.isoformat() == "2090-01-03T09:00:00+00:00"


@walks("cancel a task by keyboard")
def test_a_task_is_found_and_cancelled_with_the_keyboard_alone(walk, operator):
    first, second = scheduled("first", "second", at=MONDAY)
    page = walk.start(operator, "/admin/")

    walk.press("/")
    expect(page.locator("#search-input-command")).to_be_focused()
    walk.type("first")
    expect(page.get_by_role("link", name=re.compile(f"first.*Task {first}"))).to_be_visible()
    walk.press("ArrowDown")
    walk.press("Enter")
    expect(page).to_have_url(re.compile(f"/scheduletask/{first}/change/"))
    walk.to_main_part()
    walk.tab_to(page.get_by_role("button", name="Cancel …"))
    walk.press("Enter")
    expect(page.get_by_label("Reason")).to_be_visible()
    walk.to_main_part()
    walk.tab_to(page.get_by_label("Reason"))
    walk.type("no longer wanted")
    walk.press("Tab")
    expect(page.get_by_role("button", name="Cancel 1 task")).to_be_focused()
    walk.press("Enter")

    expect(page.get_by_text("1 cancelled")).to_be_visible()
    assert (state(first).status, state(second).status) == ("CANCELLED", "INIT")


@walks("replay all that died")
def test_everything_that_died_is_counted_first_and_then_replayed_by_a_beat(walk, operator):
    a_beat_is_alive()
    dead(*(f"broken-{n}" for n in range(60)))  # more than a page
    [other] = scheduled("other", at=MONDAY)
    page = walk.start(operator, "/admin/")

    walk.click(page.get_by_role("link", name="Dead 60"))
    expect(page.get_by_text("One cause shown")).to_be_visible()
    walk.click(page.get_by_role("button", name="Replay …"))
    walk.fill(page.get_by_label("Reason"), "all of them")
    walk.click(page.get_by_role("button", name="Replay 60"))
    expect(page.get_by_text("It waits for a beat")).to_be_visible()
    carried_out(Campaign.objects.get())

    expect(page.get_by_text("60 started over")).to_be_visible()  # the page sees it by itself
    expect(page.get_by_text("It is done.")).to_be_visible()
    assert not ScheduleTask.objects.filter(status="DEAD").exists()
    assert deeds().filter(reason="all of them", task_id__isnull=False).count() == 60
    assert state(other).due


def test_a_list_that_finds_nothing_keeps_looking_by_itself(visits, operator):
    """Walks down the ids in steps of one look; here every look after the first is the last."""
    [oldest] = scheduled("needle", at=MONDAY, task_type="T_PLAIN")
    page = visits.page(operator)
    page.goto(f"{LIST}?type=T_PLAIN&after=0:{oldest + 1}&looked=5000")
    expect(page.get_by_role("link", name=str(oldest), exact=True)).to_be_visible()

    given_up = never_ending(page.content())
    found = {"body": given_up, "content_type": "text/html"}
    page.route("**/scheduletask/?type=T_NONE", lambda route: route.fulfill(**found), times=1)
    page.goto(f"{LIST}?type=T_NONE")

    page.wait_for_url(re.compile("looked=5000"))
    expect(page.get_by_text("No task matches")).to_be_visible()


def never_ending(html: str) -> str:
    """The page as it is when a look was given up."""
    links = f"""<a data-stop href="?">Stop</a>
        <a data-keep-looking href="{LIST}?type=T_NONE&after=0:1&looked=5000">Keep looking</a>"""
    return re.sub(r'<nav aria-label="Pages">.*?</nav>', links, html, flags=re.DOTALL)


@walks("watch a run")
def test_a_run_is_watched_in_the_dark_and_with_the_keyboard(walk, operator):
    batch = started("long")
    [task] = batch.tasks

    def tell(page: int) -> None:
        tell_progress(batch.batch_no, [Told(task.id, page / 100, f"page {page} of 100")])
        lines = [(1_800_000_000.0 + n, "", f"page {n} " + "x" * 60) for n in range(page)]
        keep_logs(batch.batch_no, [Lines(task.id, 1, 0, lines)])

    tell(40)
    page = walk.start(operator, "/admin/", color_scheme="dark")
    walk.click(page.get_by_role("link", name=re.compile("^Running 1")))
    walk.click(page.get_by_role("link", name=str(task.id), exact=True))
    expect(page.locator("bdi", has_text="40 %, page 40 of 100")).to_be_visible()
    log = page.get_by_label("Log of try 1")
    at_end = "one => one.scrollHeight - one.scrollTop - one.clientHeight < 4"
    assert log.evaluate(at_end)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    log.focus()

    tell(80)

    expect(page.locator("bdi", has_text="80 %, page 80 of 100")).to_be_visible()  # the page sees it by itself
    expect(page.get_by_role("progressbar", name="Progress of this run")).to_have_attribute("value", "0.8000")
    expect(log).to_be_focused()
    assert log.evaluate(at_end)
    walk.press("Home")
    wait_until(lambda: log.evaluate("one => one.scrollTop") == 0)

    settled(batch)
    expect(page.get_by_text("What its tries have logged")).to_be_visible()
    expect(page.get_by_text("The run under way")).to_be_hidden()


def test_the_overview_tells_of_a_silent_worker_by_itself_and_says_when_it_is_old(visits, operator):
    def show_tab() -> None:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    a_beat_is_alive()
    a_worker_is_alive()
    page = visits.page(operator, "/admin/")
    expect(page.get_by_text("All is well")).to_be_visible()

    Node.objects.filter(kind=Node.WORKER).update(seen_at=timezone.now() - timedelta(minutes=1))

    expect(page.get_by_text("No task can run: no worker is alive.")).to_be_visible()
    expect(page.get_by_text("silent")).to_be_visible()

    page.route("**/admin/", lambda route: route.abort())
    show_tab()
    expect(page.get_by_text("The server isn't answering. What you see is from")).to_be_visible()
    page.unroute("**/admin/")
    dead("gone")

    show_tab()  # it looks again when its tab is shown

    expect(page.get_by_text("The server isn't answering.")).to_be_hidden()
    expect(page.get_by_role("link", name="Dead 1")).to_be_visible()
    visits.forgive("ERR_FAILED")


@walks("pause a lane and resume it")
def test_a_lane_is_paused_watched_and_let_go_on(walk, operator):
    a_beat_is_alive()
    a_worker_is_alive()
    page = walk.start(operator, "/admin/")
    walk.click(page.get_by_role("link", name="Pause low"))
    walk.fill(page.get_by_label("Reason"), "the warehouse is down")
    walk.click(page.get_by_role("button", name="Pause lane low"))
    expect(page.get_by_text("Lane low is paused.")).to_be_visible()
    expect(page.get_by_text(re.compile(r"15#\d"))).to_be_visible()  # the page of the fleet

    schedule("T_PLAIN", "waits", lane="low")

    # The page sees by itself that something waits in it.
    expect(
        page.get_by_role("row", name=re.compile("low paused .* the warehouse is down.* Resume low 1 "))
    ).to_be_visible()
    walk.click(page.get_by_role("link", name="Resume low"))
    walk.fill(page.get_by_label("Reason"), "it is up again")
    walk.click(page.get_by_role("button", name="Resume lane low"))
    expect(page.get_by_role("link", name="Pause low")).to_be_visible()


@walks("drain a worker and take it back")
def test_a_worker_is_drained_and_taken_back(walk, operator):
    a_beat_is_alive()
    a_worker_is_alive()
    page = walk.start(operator, "/admin/")
    walk.click(page.get_by_role("link", name="worker:1"))
    walk.click(page.get_by_role("link", name="Drain …"))
    walk.fill(page.get_by_label("Reason"), "a new kernel")
    walk.click(page.get_by_role("button", name="Drain"))
    expect(page.get_by_text("worker:1 finishes what it has and takes no more.")).to_be_visible()
    expect(page.get_by_text("It has finished all it had, and can be stopped.")).to_be_visible()
    assert Node.objects.get(name="worker:1").drain_reason == "a new kernel"

    walk.click(page.get_by_role("link", name="Take batches again …"))
    walk.fill(page.get_by_label("Reason"), "it has one")
    walk.click(page.get_by_role("button", name="Take batches again"))
    expect(page.get_by_text("worker:1 takes batches again.")).to_be_visible()
    expect(page.get_by_role("link", name="Drain …")).to_be_visible()
    assert Node.objects.get(name="worker:1").drained_at is None
    assert deeds().count() == 2


def test_another_site_is_activated_and_who_watches_sees_it(visits):
    beat_at("b", seconds_ago=-3_600)  # however long the test takes, it is alive
    rights = ("punctual.view_installation", "punctual.view_scheduletask")
    watching = visits.page(person("vera", *rights), SITES, timezone_id="Europe/Berlin")  # where a page was kept before
    page = visits.page(person("olga", *rights, "punctual.operate_installation"), SITES)
    expect(page.get_by_role("heading", name="Site main is the active one")).to_be_visible()
    expect(watching.get_by_role("link", name="Activate b …")).to_have_count(0)

    page.set_viewport_size({"width": 360, "height": 740})
    where = page.get_by_role("link", name="Activate b …").bounding_box()
    assert where["x"] + where["width"] <= 360  # nobody has to scroll the table for it
    page.get_by_role("link", name="Activate b …").click()
    page.get_by_label("Type b to confirm it").fill("b")
    page.get_by_label("Reason").fill("a fire")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Activate").click()

    expect(page.get_by_text("Site b is chosen, and no other one works.")).to_be_visible()
    for one in (page, watching):
        expect(one.get_by_role("heading", name="Site b is the active one")).to_be_visible()
        expect(one.get_by_role("row", name="main standing by")).to_be_visible()
    expect(watching.get_by_role("row", name="olga")).to_contain_text("site b activated")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_an_order_for_all_that_matches_fits_a_narrow_screen(visits, operator):
    """What a form leads to; the pages that have an address of their own are in test_access.py."""
    schedule_many("T_QUIET", [{"key": "k" * 199 + str(n)} for n in range(3)], payload={"do": "crash"})
    run_due()
    page = visits.page(operator, f"{LIST}?state=FAIL", viewport={"width": 400, "height": 800}, color_scheme="dark")

    def fits() -> bool:
        return page.evaluate("document.documentElement.scrollWidth") <= 400

    page.get_by_label("everything that matches").check()
    page.get_by_role("button", name="Retry now …").click()
    page.get_by_label("Reason").fill("narrow")
    assert fits()
    page.get_by_role("button", name="Retry 3 tasks now").click()
    expect(page.get_by_text("It waits for a beat")).to_be_visible()
    assert fits()
    page.goto(page.url.replace("change/", "cancel/order/"))
    assert fits()
