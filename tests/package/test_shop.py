"""Somebody else's project adds Punctual by the page, runs both side by side, and takes it out again.

The shop (tests/shop) has a Celery app with settings that would do us harm, and one Redis for both. Every step comes
from docs/add-to-your-project.md as it stands there.
"""

import json
import os
import re
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest
import redis
from playwright.sync_api import BrowserContext, Page

from tasks_app.core.lanes import LANES
from tests.support.browser import PATIENCE_MS, a_browser
from tests.support.clean_environment import asked_by, clean_environment
from tests.support.page import Step, says, steps_of
from tests.support.shop import OWNER, PASSWORD, Shop
from tests.support.stack import ROOT

pytestmark = pytest.mark.scale

PAGE = ROOT / "docs" / "add-to-your-project.md"
OF_THE_SHOP = ("Django", "celery[redis]", "psycopg[binary]", "django-celery-beat", "pip")
STEPS = steps_of(PAGE)
RUNNING = next(number for number, step in enumerate(STEPS) if step.kind == "sh")
UNINSTALLING = next(number for number, step in enumerate(STEPS) if step.section == "Uninstall")
HOST_PAGES = (
    "/admin/",
    "/admin/orders/order/?customer=Grace",
    "/admin/orders/order/1000/change/",
    "/admin/django_celery_beat/clockedschedule/",
)
# The shop's own worker: threads, all of its queues, one of which has the name of a lane. And its own beat.
HOST_WORKER = "celery -A shop worker -P threads -c 2 -Q mails,default -n mailer@shop -l INFO"
HOST_BEAT = "celery -A shop beat -l INFO"
# What this test adds to the page: a handler that takes longer than the shop's own soft time limit of 1 s, and canaries
# that need not be waited for.
OURS = {
    "orders/handlers.py": """

@handler("ORDER_PACK", api=True)
def pack(task):
    from threading import Event

    Event().wait(1.5)
""",
    "shop/settings.py": 'PUNCTUAL["CANARY_SECONDS"] = 1\n',
}


@dataclass
class Story:
    """What was seen on the way."""

    shop: Shop
    pages: dict[str, tuple[str, bytes]]  # as they were before
    schema: list[tuple]
    files: dict[str, str]
    answers: list[tuple[str, str, str]] = field(default_factory=list)  # a command, what the page shows, what came


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """Of the shop's owner, who stays logged in."""
    with a_browser() as chromium, closing(chromium.new_context(reduced_motion="reduce")) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


@pytest.fixture(scope="module")
def shop(built, tmp_path_factory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    programs = clean_environment(folder / "venv", [*OF_THE_SHOP, *asked_by(built.wheel, "admin", "api")])
    shop = Shop(
        folder,
        programs,
        database_url=os.environ["DATABASE_URL"],
        redis_url=os.environ["REDIS_URL"],
        PIP_FIND_LINKS=str(built.folder),
    )
    try:
        shop.run("python manage.py migrate")
        shop.hire_owner()
        shop.write(
            "INSERT INTO orders_order (id, customer, paid, placed_at) VALUES (1000, 'Grace', true, '2026-01-01')"
        )
        yield shop
    finally:
        shop.close()


@pytest.fixture(scope="module")
def before(shop: Shop, browser: BrowserContext) -> Story:
    """The shop as it was."""
    shop.serve()
    return Story(shop, look(browser, shop), shop.schema(), shop.files())


@pytest.fixture(scope="module")
def installed(before: Story) -> Story:
    """After the steps that change something, and before those that run something."""
    for step in STEPS[:RUNNING]:
        follow(before, step)
    return before


@pytest.fixture(scope="module")
def story(installed: Story) -> Story:
    """The page from its first step to its last, but for the uninstalling."""
    installed.shop.write(
        "WITH every AS"
        " (INSERT INTO django_celery_beat_intervalschedule (every, period) VALUES (1, 'seconds') RETURNING id)"
        " INSERT INTO django_celery_beat_periodictask (name, task, interval_id, args, kwargs, enabled, total_run_count,"
        " description, one_off, headers, date_changed) SELECT 'news', 'orders.tasks.send_mail', id,"
        " '[1000, \"News.\"]', '{}', true, 0, '', false, '{}', now() FROM every"
    )
    for step in STEPS[RUNNING:UNINSTALLING]:
        follow(installed, step)
    return installed


def follow(story: Story, step: Step) -> None:
    shop = story.shop
    if step.kind == "console":
        for command, output in step.commands():
            story.answers.append((command, output, shop.run(command)))
    elif step.kind == "sh":
        for path, text in OURS.items():
            with (shop.folder / path).open("a") as file:
                file.write(text)
        for command in (HOST_WORKER, HOST_BEAT, *step.text.splitlines()):
            shop.start(command)
        shop.serve()
        shop.wait(lambda: shop.rows("SELECT count(*) FROM punctual_node") == [(2,)])
        place_order(shop)
        shop.wait(lambda: sent(shop, "Please pay."))
        shop.wait(lambda: len(canaries(shop)) == len(LANES))
    else:
        step.apply(shop.folder)


def place_order(shop: Shop) -> None:
    body = urlencode({"customer": "Ada"}).encode()
    with urllib.request.urlopen(f"{shop.url}/orders/", body, timeout=60) as answer:
        assert json.load(answer) == {"order": 1}


def sent(shop: Shop, text: str) -> list[str]:
    return [by for (by,) in shop.rows("SELECT sent_by FROM orders_mail WHERE text = %s", text)]


def canaries(shop: Shop) -> list[tuple[str]]:
    """The lanes through which one has come."""
    return shop.rows("SELECT biz_key FROM punctual_task WHERE task_type = 'PUNCTUAL_CANARY' AND start_time IS NOT NULL")


def look(browser: BrowserContext, shop: Shop) -> dict[str, tuple[str, bytes]]:
    """The shop's pages as its owner sees them: what they say, and how they look."""
    with closing(browser.new_page()) as page:
        page.goto(f"{shop.url}/admin/")
        if "/login/" in page.url:
            log_in(page)
        return {path: (text_of(page, f"{shop.url}{path}"), page.screenshot()) for path in HOST_PAGES}


def log_in(page: Page) -> None:
    page.fill("#id_username", OWNER)
    page.fill("#id_password", PASSWORD)
    page.press("#id_password", "Enter")
    page.wait_for_selector("#id_username", state="detached")


def text_of(page: Page, url: str) -> str:
    answer = page.goto(url)
    assert answer.status == 200, url
    return re.sub(r'(csrfmiddlewaretoken" value=)"\w+"', r"\1", answer.text())


def test_the_page_replaces_one_line_of_theirs():
    lines = [line for step in STEPS if step.kind == "diff" for line in step.text.splitlines()]

    assert [line for line in lines if line.startswith("-")] == ["-from django.urls import path"]


def test_their_environment_has_nothing_of_ours_at_first(before):
    assert not list((before.shop.programs.parent / "lib").glob("*/site-packages/*punctual*"))
    assert not [row for row in before.schema if "punctual" in str(row)]


def test_the_page_installs_what_it_needs(installed):
    assert {file for file in installed.shop.files() if file not in installed.files} == {"orders/handlers.py"}
    assert [row for row in installed.shop.schema() if "punctual" in str(row)]


def test_the_page_shows_what_its_commands_answer(story):
    for command, shown, seen in story.answers:
        assert says(shown, seen.replace(socket.gethostname(), "web-1")), f"$ {command}\n{seen}"


def test_their_pages_stay_as_they_are(story, browser):
    assert look(browser, story.shop) == story.pages


def test_their_tasks_go_through_their_own_app_and_worker(story):
    shop = story.shop
    shop.wait(lambda: sent(shop, "News."))

    assert sent(shop, "Thank you.") == ["shop mailer@shop"]
    assert {*sent(shop, "News.")} == {"shop mailer@shop"}, "django-celery-beat's"
    assert sent(shop, "Please pay.") == ["shop mailer@shop"], "sent by a handler of ours"


def test_their_worker_is_no_node_and_takes_nothing_of_ours(story):
    nodes = story.shop.rows("SELECT kind, count(*) FROM punctual_node GROUP BY kind ORDER BY kind")

    assert nodes == [("BEAT", 1), ("WORKER", 1)]
    assert not re.search(r"ERROR|Traceback|unregistered|tasks_app", log_of(story.shop, HOST_WORKER))


def log_of(shop: Shop, command: str) -> str:
    return next(one.text() for one in shop.processes if one.name == command)


def test_a_task_over_the_api_may_run_longer_than_their_time_limit(story):
    shop = story.shop
    token = next(seen for command, _, seen in story.answers if " api_token " in command).split()[0]
    request = urllib.request.Request(
        f"{shop.url}/punctual/api/v1/tasks",
        json.dumps({"task_type": "ORDER_PACK", "key": "1"}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 201

    wanted = "SELECT status, retry_count FROM punctual_task WHERE task_type = 'ORDER_PACK'"
    shop.wait(lambda: any(status == "SUCCESS" or failures for status, failures in shop.rows(wanted)))
    assert shop.rows(wanted) == [("SUCCESS", 0)]


def test_the_console_has_a_site_of_its_own(story, browser):
    complaints: list[str] = []
    with closing(browser.new_page()) as page:
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        text_of(page, f"{story.shop.url}/punctual/")
        assert page.title().endswith("Punctual")
        assert "Run a job now" in text_of(page, f"{story.shop.url}/punctual/api/v1/docs")
    assert complaints == []


def test_their_tests_run_eagerly_as_before(story):
    story.shop.run("python manage.py test --settings shop.eager_settings")


@pytest.fixture(scope="module")
def uninstalled(story: Story) -> Story:
    """By the page: end our processes, migrate back, take the lines out, uninstall the package."""
    shop = story.shop
    shop.stop()
    shop.write("DELETE FROM django_celery_beat_periodictask")
    (migrate, _), (uninstall, _) = STEPS[UNINSTALLING].commands()
    shop.run(migrate)
    for path, text in OURS.items():
        file = shop.folder / path
        file.write_text(file.read_text().removesuffix(text))
    for step in reversed(STEPS[:UNINSTALLING]):
        if step.kind in ("diff", "python"):
            step.take_back(shop.folder)
    shop.run(uninstall)
    return story


def test_uninstalling_leaves_their_files_and_database_as_they_were(uninstalled):
    shop = uninstalled.shop

    assert shop.files() == uninstalled.files
    assert shop.schema() == uninstalled.schema


def test_uninstalling_leaves_nothing_in_redis(uninstalled):
    with closing(redis.Redis.from_url(uninstalled.shop.redis_url)) as client:
        assert client.keys("punctual:*") == []


def test_after_uninstalling_their_pages_are_as_they_were(uninstalled, browser):
    uninstalled.shop.serve()

    assert "unapplied migration" not in uninstalled.shop.web.text()
    assert look(browser, uninstalled.shop) == uninstalled.pages
