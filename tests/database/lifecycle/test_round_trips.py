"""How often each verb waits for the database, by what it finds: as often alone as in a transaction of the caller's."""

from contextlib import AbstractContextManager, nullcontext

import pytest
from django.db import transaction

from articles_app.lifecycle import change_publish_time
from django_punctual import cancel, ensure, reschedule, schedule
from tasks_app.lifecycle.past import move_batches
from tasks_app.models import ScheduleTask
from tests.support.articles import approved, claim_task, publish_task
from tests.support.marks import commits
from tests.support.moves import FINAL, MONDAY, TUESDAY, TYPE, away, claimed, scheduled, settled, started
from tests.support.round_trips import round_trips

pytestmark = commits

WARM_UP = 3  # calls, until each statement is prepared


@pytest.fixture(autouse=True)
def _moved_at_once(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}


def in_the_past(key: str) -> None:
    settled(started(key))
    assert move_batches().tasks == 1


def cancelled(key: str) -> None:
    scheduled(key, at=MONDAY)
    cancel(TYPE, key)


FOUND = {
    "nothing": lambda key: None,
    "waiting": lambda key: scheduled(key, at=MONDAY),
    "claimed": claimed,
    "running": started,
    "away": away,
    "rolling": lambda key: settled(started(key, repeat_after=3600)),
    "succeeded": lambda key: settled(started(key)),
    "dead": lambda key: settled(started(key), FINAL),
    "cancelled": cancelled,
    "in the past": in_the_past,
}
VERBS = {
    "schedule": lambda key: schedule(TYPE, key, at=TUESDAY).outcome,
    "reschedule": lambda key: reschedule(TYPE, key, at=TUESDAY).outcome,
    "ensure": lambda key: ensure(TYPE, key, at=TUESDAY).outcome,
    "cancel": lambda key: cancel(TYPE, key).status,
}
TAKES = {
    "schedule": {
        "nothing": ("CREATED", 1),
        **dict.fromkeys(("waiting", "claimed", "running", "away", "rolling"), ("EXISTS", 2)),
        **dict.fromkeys(("succeeded", "dead", "cancelled"), ("CREATED", 3)),
        "in the past": ("CREATED", 1),
    },
    "reschedule": {
        "nothing": ("CREATED", 6),
        **dict.fromkeys(("waiting", "rolling"), ("UPDATED", 1)),
        **dict.fromkeys(("claimed", "running", "away"), ("REPLACED", 2)),
        **dict.fromkeys(("dead", "cancelled"), ("CREATED", 2)),
        "succeeded": ("IGNORED", 1),
        "in the past": ("IGNORED", 3),
    },
    "ensure": {
        "nothing": ("CREATED", 6),
        **dict.fromkeys(("waiting", "rolling"), ("UPDATED", 1)),
        **dict.fromkeys(("claimed", "running", "away"), ("REPLACED", 2)),
        **dict.fromkeys(("succeeded", "dead", "cancelled"), ("CREATED", 2)),
        "in the past": ("CREATED", 9),
    },
    "cancel": {
        "nothing": (None, 2),
        **dict.fromkeys(("waiting", "claimed", "running", "rolling", "cancelled"), ("CANCELLED", 1)),
        "away": ("CANCELLED", 2),  # the lease of who has it, in a later snapshot
        "succeeded": ("SUCCESS", 1),
        "dead": ("DEAD", 1),
        "in the past": ("SUCCESS", 2),
    },
}


def within(transactions: str) -> AbstractContextManager:
    return transaction.atomic() if transactions == "the caller's" else nullcontext()


@pytest.mark.parametrize("transactions", ["its own", "the caller's"])
@pytest.mark.parametrize(("verb", "found"), [(verb, found) for verb, known in TAKES.items() for found in known])
def test_a_verb_waits_for_the_database_as_often_as_its_answer_needs(verb, found, transactions):
    outcomes, times = [], 0
    for turn in range(WARM_UP + 1):
        FOUND[found](f"key-{turn}")
        with within(transactions):
            ScheduleTask.objects.exists()  # so that the caller's transaction has begun
            times = round_trips(lambda turn=turn: outcomes.append(VERBS[verb](f"key-{turn}")))

    assert (outcomes[-1], times) == TAKES[verb][found]


@pytest.mark.parametrize(("runs", "outcome", "expected"), [(False, "UPDATED", 1), (True, "REPLACED", 2)])
def test_an_edit_of_an_article_takes_its_task_along(runs, outcome, expected):
    outcomes, times = [], 0
    for _ in range(WARM_UP + 1):
        article = approved(MONDAY)
        if runs:
            claim_task(publish_task(article))
        times = round_trips(
            lambda article=article: outcomes.append(change_publish_time(article, TUESDAY, actor="ed").outcome)
        )

    assert (outcomes[-1], times) == (outcome, expected)
