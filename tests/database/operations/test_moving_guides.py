"""The pages about moving from other schedulers: what they show of Punctual is run as it stands."""

import ast
import re
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db.models.functions import Now

from django_punctual.testing import run_due
from tasks_app.core.handlers import REGISTRY
from tasks_app.models import JobDefinition, ScheduleTask

PAGES = sorted((Path(__file__).resolve().parents[3] / "docs" / "moving").glob("*.md"))
FENCE = re.compile(r"^( *)```([^\n]+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
NEW_YEAR = datetime(2090, 1, 1, tzinfo=UTC)
SECTIONS = ["The same thing, side by side", "What is different", "Switching over", "Going back"]


def blocks(page: Path, kind: str) -> list[str]:
    return [textwrap.dedent(code) for _, word, code in FENCE.findall(page.read_text()) if word == kind]


@pytest.fixture
def ran(db, django_capture_on_commit_callbacks):
    """Run the page's own snippets, one after the other; what they would have called of the shop is noted."""
    known, calls = {handler.name for handler in REGISTRY}, []

    def note(name):
        return lambda *args, **kwargs: calls.append((name, *args, *kwargs.values()))

    orders = [SimpleNamespace(id=number, remind_at=NEW_YEAR) for number in (7, 8, 9)]
    shop = {
        "order": orders[0],
        "user": SimpleNamespace(id=3),
        "later": NEW_YEAR + timedelta(days=1),
        "mails": SimpleNamespace(remind=note("remind"), welcome=note("welcome"), send_all=note("send_all")),
        "reports": SimpleNamespace(build=note("build")),
        "orders": SimpleNamespace(sweep=note("sweep"), waiting=lambda: orders),
        "old": SimpleNamespace(remind=SimpleNamespace(apply_async=note("sent back"))),
    }

    def run(page: Path) -> list[tuple]:
        with django_capture_on_commit_callbacks(execute=True):
            for code in blocks(page, "python"):
                exec(compile(code, str(page), "exec"), shop)
        return calls

    yield run
    for handler in list(REGISTRY):
        if handler.name not in known:
            REGISTRY.discard(handler.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_page_has_the_same_rooms_and_code_that_can_be_read(page):
    assert re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE) == SECTIONS
    assert {word for _, word, _ in FENCE.findall(page.read_text())} == {"python", "python theirs"}
    for code in blocks(page, "python theirs"):
        ast.parse(code)


def page_named(name: str) -> Path:
    return next(page for page in PAGES if page.stem == name)


@pytest.mark.parametrize(
    ("name", "jobs", "called"),
    [
        ("apscheduler", {"report", "sweep", "nightly sweep"}, [("remind", 7)]),
        ("django-q", {"report", "clear sessions"}, [("remind", 7), ("welcome", 3)]),
        ("rq", {"report"}, [("remind", 7), ("remind", 8), ("remind", 9), ("welcome", 3)]),
        ("django-celery-beat", {"daily mail", "sync", "year end"}, []),
    ],
)
def test_what_a_page_schedules_runs_and_its_jobs_are_there(ran, name, jobs, called):
    calls = ran(page_named(name))
    assert {job.name for job in JobDefinition.objects.all()} == jobs

    ScheduleTask.objects.filter(job__isnull=False).delete()
    JobDefinition.objects.all().delete()
    ScheduleTask.objects.update(due_at=Now())
    run_due()

    assert sorted(calls) == called


def test_on_the_way_back_to_celery_each_waiting_task_is_sent_once_and_waits_here_no_more(ran):
    calls = ran(page_named("celery-eta"))

    assert [what for what, _, _ in calls] == ["sent back"] * 3
    times = {number: at for _, (number,), at in calls}
    assert (times[7], times[9]) == (NEW_YEAR, NEW_YEAR)
    assert times[8] < NEW_YEAR  # it was scheduled with a delay of an hour
    assert set(ScheduleTask.objects.filter(current=True).values_list("status", flat=True)) == {"CANCELLED"}
