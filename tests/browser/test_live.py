"""Pages that update by themselves: one stream for a browser, what a reader does meanwhile, and what they are told."""

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from tests.support.browser import PASSWORD, person
from tests.support.jobs import make
from tests.support.moves import MONDAY, dead, scheduled, state
from tests.support.walks import walks

LIST = "/admin/punctual/scheduletask/"


@pytest.fixture
def operator():
    return person("olga", "punctual.view_scheduletask", "punctual.operate_scheduletask")


def test_two_tabs_share_a_stream_and_a_reader_keeps_what_was_typed_chosen_and_focused(visits, operator):
    [first] = scheduled("first", at=MONDAY)
    page = visits.page(operator)
    streams, context = [], page.context

    def note(request) -> None:
        if request.url.endswith("/stream/"):
            streams.append(request.url)

    context.on("request", note)
    page.goto(LIST)
    other = visits.listen(context.new_page())
    other.goto(LIST)
    page.get_by_label("Key", exact=True).fill("half a ke")
    link = page.get_by_role("link", name=str(first), exact=True)
    link.focus()

    [second] = scheduled("second", at=MONDAY)

    for tab in (page, other):
        expect(tab.get_by_role("link", name=str(second), exact=True)).to_be_visible()
    expect(page.get_by_label("Key", exact=True)).to_have_value("half a ke")
    expect(link).to_be_focused()
    assert len(streams) == 1

    # While something is chosen the rows stay where they are.
    page.get_by_label(re.compile(f"Select task {first},")).check()
    [third] = dead("third")
    expect(other.get_by_role("link", name=str(third), exact=True)).to_be_visible()
    expect(page.get_by_text("The list stays as it is while something in it is selected.")).to_be_visible()
    expect(page.get_by_role("link", name=str(third), exact=True)).to_be_hidden()
    page.get_by_label(re.compile(f"Select task {first},")).uncheck()
    expect(page.get_by_role("link", name=str(third), exact=True)).to_be_visible()
    expect(page.get_by_text("The list stays as it is")).to_be_hidden()

    # The tab with the stream goes, and the other takes it over.
    page.close()
    [fourth] = scheduled("fourth", at=MONDAY)
    expect(other.get_by_role("link", name=str(fourth), exact=True)).to_be_visible()
    assert len(streams) == 2
    context.remove_listener("request", note)


def test_a_lost_session_is_told_and_after_a_login_in_another_tab_the_page_goes_on(visits, operator):
    [task] = scheduled("a", at=MONDAY)
    page = visits.page(operator, LIST)
    page.get_by_label("Key", exact=True).fill("half a ke")
    with page.expect_response(lambda one: one.url.endswith("/stream/") and one.status == 204):
        Session.objects.all().delete()

    expect(page.get_by_text("You are no longer logged in. What you see is from")).to_be_visible()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Log in in another tab").click()
    login = visits.listen(opened.value)
    login.get_by_label("Username").fill("olga")
    login.get_by_label("Password").fill(PASSWORD)
    login.get_by_role("button", name="Log in").click()
    expect(login).to_have_url(f"{visits.url}{LIST}")
    login.close()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # as when its tab is shown again

    expect(page.get_by_text("You are no longer logged in.")).to_be_hidden()
    expect(page.get_by_label("Key", exact=True)).to_have_value("half a ke")
    page.get_by_label(re.compile(f"Select task {task},")).check()
    page.get_by_role("button", name="Cancel …").click()  # the form has the token of the new login
    page.get_by_label("Reason").fill("no longer wanted")
    page.get_by_role("button", name="Cancel 1 task").click()
    expect(page.get_by_text("1 cancelled")).to_be_visible()
    assert state(task).status == "CANCELLED"


def test_without_a_stream_a_page_asks_by_the_clock_and_offline_is_told_as_that(visits, operator):
    page = visits.page(operator)
    page.route("**/stream/", lambda route: route.fulfill(status=204))
    page.goto(LIST)
    [task] = scheduled("a", at=MONDAY)

    expect(page.get_by_role("link", name=str(task), exact=True)).to_be_visible()

    page.context.set_offline(True)
    expect(page.get_by_text("You are offline. What you see is from")).to_be_visible()
    page.context.set_offline(False)
    expect(page.get_by_text("You are offline.")).to_be_hidden()
    visits.forgive("ERR_INTERNET_DISCONNECTED")


@walks("find a job by keyboard")
def test_the_palette_finds_a_page_a_job_and_a_task_by_the_keyboard_alone(walk):
    job = make("nightly report")
    [task] = scheduled("invoice-42", at=MONDAY)
    page = walk.start(person("boss", superuser=True), "/admin/")

    walk.press("/")
    expect(page.locator("#search-input-command")).to_be_focused()
    page.keyboard.type("invoice")
    expect(page.get_by_role("link", name=re.compile(f"invoice-42.*Task {task}"))).to_be_visible()
    page.keyboard.press("Control+a")
    walk.type("nightly")
    expect(page.get_by_role("link", name=re.compile("nightly report.*Job"))).to_be_visible()
    walk.press("ArrowDown")
    walk.press("Enter")
    expect(page).to_have_url(re.compile(f"/jobdefinition/{job.id}/change/"))

    # It is on the lists of others, too, whose own search says "/" as well.
    page.goto("/admin/auth/user/")
    expect(page.get_by_role("button", name="Search pages, jobs and tasks")).to_be_visible()
    expect(page.locator("#changelist-search kbd")).to_be_hidden()

    # Whoever closes it is back where they were; in a field the character is one like any other.
    row = page.get_by_role("table").get_by_role("link", name="boss")
    row.focus()
    page.keyboard.press("/")
    expect(page.locator("#search-input-command")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row).to_be_focused()
    page.locator("#searchbar").focus()
    page.keyboard.type("a/b")
    expect(page.locator("#searchbar")).to_have_value("a/b")


def test_times_are_in_utc_or_in_the_readers_zone_and_stay_so_while_the_page_updates(visits, operator):
    scheduled("first", at=MONDAY)
    page = visits.page(operator, LIST, timezone_id="Europe/Berlin")
    row = page.get_by_role("row", name=re.compile("first"))
    expect(row).to_contain_text("2090-01-02 09:00:00")

    page.get_by_role("button", name="Times in UTC or in your own zone").click()
    expect(row).to_contain_text("2090-01-02 10:00:00")
    named = "Due, or was scheduled for (Europe/Berlin)"  # whatever the season of its times
    expect(page.get_by_role("columnheader", name=named)).to_be_visible()
    expect(page.get_by_text("Times are in UTC.")).to_be_visible()  # what is typed into the filter
    scheduled("second", at=MONDAY)
    expect(page.get_by_role("row", name=re.compile("second"))).to_contain_text("2090-01-02 10:00:00")
    page.reload()
    expect(row).to_contain_text("2090-01-02 10:00:00")

    page.get_by_role("button", name="Times in UTC or in your own zone").click()
    expect(row).to_contain_text("2090-01-02 09:00:00")
    expect(page.get_by_role("columnheader", name="Due, or was scheduled for (UTC)")).to_be_visible()


def test_a_sentence_says_the_offset_of_its_time_and_the_zone_of_times_that_differ_in_it(visits, operator):
    [winter], [summer] = scheduled("winter", at=MONDAY), scheduled("summer", at=MONDAY.replace(month=7))
    page = visits.page(operator, f"{LIST}{summer}/change/", timezone_id="Europe/Berlin")
    page.get_by_role("button", name="Times in UTC or in your own zone").click()

    page.get_by_role("button", name="Move …").click()
    expect(page.get_by_text("Now due: 2090-07-02 11:00:00 GMT+2.")).to_be_visible()
    page.goto(f"{LIST}{winter}/change/")
    page.get_by_role("button", name="Move …").click()
    expect(page.get_by_text("Now due: 2090-01-02 10:00:00 GMT+1.")).to_be_visible()
    page.goto(LIST)
    for box in page.locator('input[name="ids"]').all():
        box.check()
    page.get_by_role("button", name="Move …").click()
    both = "They are due between 2090-01-02 10:00:00 and 2090-07-02 11:00:00 Europe/Berlin now."
    expect(page.get_by_text(both)).to_be_visible()


def test_chart_js_is_loaded_by_a_page_that_has_a_chart_of_unfold_and_by_no_other(visits, operator):
    page = visits.page(operator, LIST, own=True)
    assert page.evaluate("typeof Chart") == "undefined"
    given = '{"labels": ["Monday"], "datasets": [{"data": [1]}]}'

    def with_chart(route) -> None:
        answer = route.fetch()
        canvas = f"<canvas class='chart' data-type='bar' data-value='{given}'></canvas></body>"
        route.fulfill(response=answer, body=answer.text().replace("</body>", canvas))

    page.route(f"**{LIST}", with_chart)
    page.goto(LIST)

    page.wait_for_function("Object.keys(Chart.instances).length === 1")
