"""What editors are promised: an article whose task will not run says so, with who, why and what to do."""

import json
from datetime import timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils import timezone

from articles_app import lifecycle, stopped
from articles_app.admin.hints import hints
from articles_app.states import ArticleStatus
from articles_app.units import AUDIT, OFFLINE, PUBLISH
from django_punctual import Operator, cancel, cancel_tasks, find
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure, Skipped
from tasks_app.engine.operations import lanes
from tasks_app.lifecycle.settle import Settled, settle
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.articles import (
    MONDAY,
    WEDNESDAY,
    approved,
    claim_task,
    draft,
    pending,
    publish_task,
    published,
    row,
    status,
    write_past_lifecycle,
)
from tests.support.editor import LIST, editor, press, text_of, url
from tests.support.live import a_beat_is_alive, a_worker_is_alive

pytestmark = pytest.mark.django_db

ZONE = ZoneInfo("UTC")


def leaving() -> int:
    return published(offline_time=MONDAY)


# By state: an article that waits for a task, the task, what its page says without it, and the way out that it names.
WAITS = {
    AUDIT: (pending, "it won't be audited or go live", "Withdraw it and submit it again"),
    PUBLISH: (approved, "it won't go live", "Give it another publish time, or publish it now"),
    OFFLINE: (leaving, "it stays online", "Give it another offline time, or take it offline now"),
}
LABELS = {AUDIT: "Audit stopped", PUBLISH: "Not scheduled", OFFLINE: "Live"}


@pytest.fixture
def ann():
    return editor("ann")


def hint(article: int, now=None) -> str:
    now = now or timezone.now()
    return hints([row(article)], ZONE, now)[article].text(now)


def failed(client) -> list[int]:
    return [article.id for article in client.get(f"{LIST}?show=failed").context["cl"].result_list]


def settled(task, outcome) -> None:
    batch = start(claim_task(task), "worker")
    settle(batch.batch_no, REGISTRY.get(batch.task_type), [Settled(batch.tasks[0], outcome)], finish=True)


@pytest.mark.parametrize("task_type", WAITS)
def test_a_cancelled_task_is_told_at_once_with_who_why_and_what_to_do(ann, task_type):
    make, means, way_out = WAITS[task_type]
    article = make()
    cancel_tasks([find(task_type, article).id], Operator("olga", "not today"))

    told = hint(article)
    assert "cancelled by olga (not today)" in told and means in told and way_out in told
    assert "{}" not in told and " in " not in told.replace("in audit", ""), "nothing counts down any more"
    for answer in (ann.get(LIST), ann.get(url(article))):
        assert told in text_of(answer)
        assert f">{LABELS[task_type]}</span>" in answer.content.decode()
    [live] = json.loads(ann.get(f"{LIST}live/?ids={article}").content)["articles"]
    assert (live["before"], live["at"], live["label"], live["kind"]) == (told, None, LABELS[task_type], "failed")
    assert failed(ann) == [article]


@pytest.mark.parametrize("task_type", WAITS)
def test_a_dead_task_names_a_way_out_that_its_state_has(ann, task_type):
    make, means, way_out = WAITS[task_type]
    article = make()
    settled(find(task_type, article), Failure("BROKEN", "no way", final=True))
    assert hint(article).startswith("Given up: the only try failed (no way)")
    assert means in hint(article) and way_out in hint(article) and "an operator" in hint(article)
    assert failed(ann) == [article]


@pytest.mark.parametrize("task_type", WAITS)
def test_a_task_that_is_gone_or_did_nothing_is_told_with_the_scan_that_schedules_it_again(ann, task_type):
    make, _, _ = WAITS[task_type]
    gone = make()
    ScheduleTask.objects.filter(biz_key=str(gone), task_type=task_type).delete()
    skipped = make()
    settled(find(task_type, skipped), Skipped("SKIPPED", "not now"))
    for article in (gone, skipped):
        assert "is not scheduled" in hint(article) and "the next compensation scan schedules it" in hint(article)
    assert set(failed(ann)) == {gone, skipped}


def test_each_way_out_makes_it_scheduled_again(ann):
    live, in_audit, scheduled = leaving(), pending(), approved()
    for task_type, article in ((AUDIT, in_audit), (PUBLISH, scheduled), (OFFLINE, live)):
        cancel(task_type, article, by="olga")

    press(ann, in_audit, "withdraw")
    press(ann, in_audit, "submit")
    press(ann, scheduled, "save", publish_time="2090-01-03T09:00")
    press(ann, live, "save", offline_time="2090-01-03T09:00")

    assert hint(in_audit).startswith("In audit; goes live in ")
    assert hint(scheduled).startswith("Goes live in ")
    assert hint(live).startswith("Live; goes offline in ")
    assert failed(ann) == []


def test_a_task_that_the_articles_state_does_not_wait_for_is_no_trouble(ann):
    """It was decided by hand after the task gave up, or the offline time was taken away."""
    stays = leaving()
    settled(find(OFFLINE, stays), Failure("BROKEN", "no way", final=True))
    judged = pending()
    settled(find(AUDIT, judged), Failure("BROKEN", "no way", final=True))
    lifecycle.approve(judged, actor="mod")
    lifecycle.change_offline_time(stays, None, actor="ann")
    assert hint(judged).startswith("Goes live in ") and hint(stays).startswith("Live since ")
    assert failed(ann) == []


def test_trouble_is_looked_for_among_the_next_ones_and_what_gave_up_anywhere(ann, monkeypatch):
    monkeypatch.setattr(stopped, "LOOKED_AT", 1)
    far, near, dead = approved(WEDNESDAY), approved(MONDAY), approved(WEDNESDAY)
    for article in (far, near):
        cancel(PUBLISH, article, by="olga")
    settled(publish_task(dead), Failure("BROKEN", "no way", final=True))
    assert set(failed(ann)) == {near, dead}


def test_what_has_no_task_is_told_up_to_a_bound(ann, monkeypatch):
    monkeypatch.setattr(stopped, "FOUND", 2)
    made = [approved(MONDAY) for _ in range(4)]
    for article in made[1:]:
        cancel(PUBLISH, article, by="olga")
    found = failed(ann)
    assert len(found) == 2 and set(found) < set(made[1:])


# Why it is late


def late(article: int) -> tuple[int, object]:
    now = timezone.now()
    write_past_lifecycle(article, publish_time=now - timedelta(seconds=12))
    ScheduleTask.objects.filter(biz_key=str(article), current=True, due_at__isnull=False).update(
        due_at=now - timedelta(seconds=12)
    )
    return article, now


def test_a_countdown_that_ends_gives_no_reason_that_nobody_has_looked_for(ann):
    for article, what in ((leaving(), "gone offline"), (approved(), "gone live"), (pending(), "gone live")):
        one = hints([row(article)], ZONE, timezone.now())[article]
        assert "because" not in one.after and what in one.after, one.after


def test_a_late_article_that_nothing_is_known_to_hold_has_no_reason(ann):
    a_beat_is_alive(), a_worker_is_alive()
    assert hint(*late(approved())) == "12 s late"


def test_a_late_article_is_told_that_its_lane_is_paused_by_whom_and_why():
    a_beat_is_alive(), a_worker_is_alive()
    lanes.pause("default", reason="the disk is full", by="olga")
    assert hint(*late(approved())) == "12 s late, because the lane 'default' is paused by olga (the disk is full)"


def test_a_late_article_is_told_that_the_workers_are_busy_only_if_they_are(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BATCHES_AHEAD": 1}
    a_beat_is_alive(), a_worker_is_alive()
    now = timezone.now()
    batch = TaskBatch.objects.create(
        batch_no=uuid4(), task_type=PUBLISH, lane="default", ids=[1], dispatcher="b", claimed_at=now, lease_until=now
    )
    assert hint(*late(approved())) == "12 s late, because every worker is busy"
    TaskBatch.objects.filter(batch_no=batch.batch_no).update(started_at=timezone.now())
    assert hint(*late(approved())) == "12 s late"


def test_a_task_that_somebody_moved_to_later_is_told_with_its_time():
    a_beat_is_alive(), a_worker_is_alive()
    article, now = late(approved())
    ScheduleTask.objects.filter(biz_key=str(article), current=True, due_at__isnull=False).update(due_at=MONDAY)
    assert hint(article, now) == "12 s late, because its task is scheduled for Mon 2 Jan 2090 09:00"


def test_what_is_claimed_is_not_said_to_run():
    a_beat_is_alive(), a_worker_is_alive()
    article = approved()
    claim_task(publish_task(article))
    assert hint(*late(article)) == "12 s late, because it was handed to a worker and isn't done yet"


def test_a_draft_waits_for_nothing():
    assert status(draft()) == ArticleStatus.DRAFT and hint(draft()).startswith("Not scheduled: it goes live only after")


def test_of_what_is_to_go_offline_the_newest_are_looked_at(ann, monkeypatch):
    """By their number: the page must not sort all of them, as 9 and 10 would sort as texts."""
    monkeypatch.setattr(stopped, "LOOKED_AT", 1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('article', 'id'), 9998)")
    old, new = leaving(), leaving()
    assert (old, new) == (9999, 10000)
    for article in (old, new):
        cancel(OFFLINE, article, by="olga")
    assert failed(ann) == [new]
