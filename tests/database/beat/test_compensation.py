"""The compensation scan: what it finds, what it repairs, what it leaves to a person; and who runs it."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from articles_app import lifecycle
from articles_app.compensation import scan
from articles_app.units import AUDIT, OFFLINE, PUBLISH
from django_punctual import cancel, ensure, reschedule, schedule, schedule_many
from django_punctual.compensation import Finding, Found, Walked, register_scan, waiting_keys
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.scans import SCANS
from tasks_app.engine import nodes
from tasks_app.engine.beat import compensation
from tasks_app.engine.beat.chores import Chores
from tasks_app.engine.beat.compensation import compensate
from tasks_app.lifecycle.start import start
from tasks_app.models import MaintenanceEntry, ScheduleTask
from tests.support.articles import (
    ANN,
    MONDAY,
    TUESDAY,
    WEDNESDAY,
    approved,
    audit_task,
    claim_task,
    draft,
    offline,
    offline_task,
    pending,
    publish_task,
    published,
    rejected,
    write_past_lifecycle,
)
from tests.support.engine import claim_due, expire_lease
from tests.support.marks import commits
from tests.support.moves import FINAL, OK, RETRY, SKIP, settled

pytestmark = pytest.mark.django_db


def findings(dry_run: bool = False) -> list[tuple[str, str, Finding]]:
    return [(one.kind, one.key, one.finding) for one in scan(dry_run) if isinstance(one, Found)]


def lose_tasks(*articles: int) -> None:
    ScheduleTask.objects.filter(biz_key__in=[str(article) for article in articles]).delete()


def end_task(task, outcome) -> None:
    settled(start(claim_task(task), "worker"), outcome)


def test_where_all_is_well_nothing_is_found():
    for make in (draft, rejected, published, offline, pending):
        make()
    approved(MONDAY)
    lifecycle.change_publish_time(approved(MONDAY), TUESDAY, actor=ANN)

    assert findings() == []


def test_a_pending_article_without_an_audit_gets_one():
    article = pending()
    lose_tasks(article)

    assert findings() == [("waits for an audit, has no task", str(article), Finding.REPAIRED)]
    assert audit_task(article).live
    assert findings() == []


def test_an_approved_article_without_a_publish_task_gets_one_at_its_time():
    article = approved(MONDAY)
    lose_tasks(article)

    assert findings() == [("waits to be published, has no task", str(article), Finding.REPAIRED)]
    assert publish_task(article).due_at == MONDAY
    assert findings() == []


@pytest.mark.parametrize("damage", ["article", "task"])
def test_a_task_with_another_time_follows_its_article(damage):
    article = approved(MONDAY)
    task = publish_task(article).id
    if damage == "article":
        write_past_lifecycle(article, publish_time=TUESDAY)
    else:
        reschedule(PUBLISH, article, at=TUESDAY)

    assert findings() == [("waits to be published, its task has another time", str(article), Finding.REPAIRED)]
    assert (publish_task(article).id, publish_task(article).due_at) == (
        task,
        TUESDAY if damage == "article" else MONDAY,
    )
    assert findings() == []


def test_a_task_that_says_done_of_an_unpublished_article_is_scheduled_again():
    article = approved(MONDAY)
    end_task(publish_task(article), OK)

    assert findings() == [("waits to be published, its task is SUCCESS", str(article), Finding.REPAIRED)]
    assert publish_task(article).due_at == MONDAY


def test_a_task_that_a_handler_skipped_is_scheduled_again():
    article = approved(MONDAY)
    end_task(publish_task(article), SKIP)

    assert findings() == [("waits to be published, its task is CANCELLED", str(article), Finding.REPAIRED)]


def test_a_task_that_failed_and_will_be_tried_again_is_as_it_should_be():
    article = approved(MONDAY)
    end_task(publish_task(article), RETRY)

    assert publish_task(article).due_at != MONDAY
    assert findings() == []


def test_a_running_task_is_left_alone():
    article = approved(MONDAY)
    claim_task(publish_task(article))
    write_past_lifecycle(article, publish_time=TUESDAY)

    assert findings() == []


def test_a_published_article_with_a_live_publish_task_loses_the_task():
    article = published()
    ensure(PUBLISH, article, at=MONDAY)

    assert findings() == [("is published, but has a task to publish it again", str(article), Finding.REPAIRED)]
    assert publish_task(article).status == "CANCELLED"
    assert findings() == []


def test_a_live_article_that_is_to_leave_gets_its_offline_task_back():
    lost, moved = published(offline_time=TUESDAY), published(offline_time=TUESDAY)
    ScheduleTask.objects.filter(task_type=OFFLINE, biz_key=str(lost)).delete()
    reschedule(OFFLINE, moved, at=WEDNESDAY)

    assert findings() == [
        ("is to go offline, has no task", str(lost), Finding.REPAIRED),
        ("is to go offline, its task has another time", str(moved), Finding.REPAIRED),
    ]
    assert {offline_task(article).due_at for article in (lost, moved)} == {TUESDAY}
    assert findings() == []


WAITING = [(pending, AUDIT, audit_task), (approved, PUBLISH, publish_task)]


@pytest.mark.parametrize(("make", "task_type", "task_of"), WAITING)
@pytest.mark.parametrize("end", ["dead", "cancelled"])
def test_what_is_dead_or_was_cancelled_by_a_person_is_told_and_not_revived(make, task_type, task_of, end):
    article = make()
    if end == "dead":
        end_task(task_of(article), FINAL)
    else:
        cancel(task_type, article, by="operator")

    [(kind, key, finding)] = findings()

    assert (key, finding) == (str(article), Finding.NEEDS_PERSON)
    assert ("is DEAD" if end == "dead" else "cancelled by a person") in kind
    assert not task_of(article).live


def test_a_dry_run_finds_the_same_and_changes_nothing():
    lost, scheduled = approved(MONDAY), published()
    lose_tasks(lost)
    ensure(PUBLISH, scheduled, at=MONDAY)

    assert {(key, finding) for _, key, finding in findings(dry_run=True)} == {
        (str(lost), Finding.REPAIRABLE),
        (str(scheduled), Finding.REPAIRABLE),
    }
    assert publish_task(lost) is None
    assert publish_task(scheduled).live


def test_the_scan_walks_pages_and_finds_what_is_on_each(monkeypatch):
    monkeypatch.setattr("articles_app.compensation.PAGE", 3)
    articles = [approved(MONDAY) for _ in range(10)]
    lose_tasks(*articles[::2])

    assert sorted(int(key) for _, key, _ in findings()) == articles[::2]
    assert sum(one.rows for one in scan(False) if isinstance(one, Walked)) == 20  # the articles, then their tasks


def test_the_published_that_are_scheduled_again_are_called_off_a_page_at_a_time(monkeypatch):
    monkeypatch.setattr("articles_app.compensation.PAGE", 3)
    articles = [published() for _ in range(7)]
    for article in articles:
        ensure(PUBLISH, article, at=MONDAY)

    assert sorted(int(key) for _, key, _ in findings()) == articles
    assert not any(publish_task(article).live for article in articles)


def test_what_waits_of_a_type_is_counted_and_those_that_are_wanted_are_named():
    schedule_many("T_QUIET", [{"key": n, "at": MONDAY if n % 3 else TUESDAY} for n in range(60)])
    schedule_many("T_PLAIN", [{"key": n, "at": MONDAY} for n in range(5)])
    schedule_many("T_QUIET", [{"key": 99, "at": MONDAY}], tenant="other")

    count, keys = waiting_keys("T_QUIET", ScheduleTask.objects.exclude(biz_key="7"), key="biz_key")

    assert count == 60
    assert sorted(int(key) for key in keys) == [n for n in range(60) if n != 7]


def test_an_audit_with_a_lead_time_is_scheduled_for_it(settings):
    settings.ARTICLES = {"AUDIT_LEAD_SECONDS": 60}
    article = pending(MONDAY)
    lose_tasks(article)

    findings()

    assert audit_task(article).due_at == MONDAY - timedelta(seconds=60)


# The command.


def command(*options: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("compensate", *options, stdout=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


def test_the_command_says_that_nothing_is_wrong():
    assert command()[1] == 0
    assert "Nothing is wrong." in command()[0]


def test_the_command_repairs_and_reports_counts_and_ids():
    articles = [approved(MONDAY) for _ in range(3)]
    lose_tasks(*articles)

    seen, code = command("--dry-run", "--json")
    assert (json.loads(seen)["repairable"], json.loads(seen)["repaired"], code) == (3, 0, 0)
    told, code = command("--json")
    told = json.loads(told)

    assert (told["repaired"], code) == (3, 0)
    assert [int(key) for key in told["found"][0]["ids"]] == articles
    assert command()[1] == 0


def test_the_command_fails_when_a_person_is_needed():
    article = approved(MONDAY)
    cancel(PUBLISH, article, by="operator")

    page, code = command()

    assert code == 1
    assert "needs a person" in page
    assert str(article) in page


@pytest.fixture
def broken_scan():
    def broken(dry_run):
        yield Found("odd", "1", Finding.REPAIRED)
        raise KeyError("bug")

    register_scan("a broken one", broken)
    yield
    SCANS.discard("a broken one")


def test_a_scan_that_fails_does_not_keep_the_others_from_running(broken_scan):
    article = approved(MONDAY)
    lose_tasks(article)

    page, code = command("--json")

    assert code == 1
    assert json.loads(page)["failed"] == {"a broken one": "'bug'"}
    assert publish_task(article).live


def test_one_scan_runs_alone_under_its_own_command(broken_scan):
    article = approved(MONDAY)
    lose_tasks(article)
    out = StringIO()

    call_command("compensate_articles", "--json", stdout=out)

    assert json.loads(out.getvalue())["failed"] == {}
    assert publish_task(article).live


def test_a_scan_that_is_not_registered_is_refused_with_those_that_are():
    with pytest.raises(
        CommandError, match="There is no scan 'article'; the apps here have registered: articles, stock"
    ):
        call_command("compensate", "article")


def test_two_scans_of_one_name_are_refused():
    with pytest.raises(InvalidConfiguration, match="registered twice"):
        register_scan("articles", lambda dry_run: [])


def test_ids_are_kept_up_to_a_limit_and_counts_are_exact(monkeypatch):
    monkeypatch.setattr(compensation, "IDS_SHOWN", 2)
    lose_tasks(*[approved(MONDAY) for _ in range(5)])

    [kind] = compensate().found.values()

    assert (kind.count, len(kind.ids)) == (5, 2)


# The beats.


@commits
def test_a_beat_runs_the_scan_beside_its_other_chores():
    article = approved(MONDAY)
    lose_tasks(article)
    beat = Chores(nodes.new_node_id(), "beat-1")

    assert "compensate" in beat.run_once()
    beat.wait_aside(20)

    assert publish_task(article).live
    entry = MaintenanceEntry.objects.get(name="compensate")
    assert timedelta(seconds=10) < entry.next_at - timezone.now() < timedelta(seconds=61)


@commits
def test_a_beat_that_still_scans_goes_on_reaping_and_leaves_the_next_scan_to_others(settings):
    import threading

    settings.PUNCTUAL = settings.PUNCTUAL | {"MOVE_SECONDS": 3600.0, "REAP_SECONDS": 60.0}

    release, begun = threading.Event(), threading.Event()

    def slow(dry_run):
        begun.set()
        release.wait(20)
        return []

    register_scan("a slow one", slow)
    one, two = Chores(nodes.new_node_id(), "beat-1"), Chores(nodes.new_node_id(), "beat-2")
    try:
        one.run_once()
        assert begun.wait(20)
        MaintenanceEntry.objects.update(next_at="2020-01-01T00:00:00Z")
        schedule("T_QUIET", "lost")
        expire_lease(claim_due()[0])

        done = one.run_once()
        assert "reap" in done and "compensate" not in done
        release.set()
        assert "compensate" in two.run_once()
    finally:
        release.set()
        one.wait_aside(20)
        two.wait_aside(20)
        two.wait_aside(20)
        SCANS.discard("a slow one")
