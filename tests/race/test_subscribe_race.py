"""Several processes of an app subscribe when they start: there is one subscription, and all are content."""

import pytest

from django_punctual import ToFunction, subscribe
from tasks_app.core.errors import NameTaken
from tasks_app.engine.operations.subscriptions import create
from tasks_app.models import AuditEntry, Subscription
from tests.support.jobs import by
from tests.support.marks import commits
from tests.support.outbox import subscribed
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


def ask(*events: str):
    return lambda: subscribe("test", events=list(events), to=ToFunction("test"))


def test_the_same_twice_at_once_is_one():
    with subscribed():
        one, two = overlap(ask("*"), ask("*"))

    assert one.id == two.id == Subscription.objects.get().id
    assert [entry.outcome for entry in AuditEntry.objects.all()] == ["created"]


def test_of_two_wishes_at_once_the_last_counts():
    with subscribed():
        overlap(ask("*"), ask("task.dead"))

    assert Subscription.objects.get().events == ["task.dead"]


def test_if_the_first_rolls_back_the_second_makes_it():
    with subscribed():
        overlap(ask("*"), ask("task.dead"), commit=False)

    assert Subscription.objects.get().events == ["task.dead"]


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_that_are_to_be_new_the_second_is_told_that_the_name_is_taken(commit):
    """People and callers of the API create: neither should find that somebody else has changed what they made."""

    def make(*events: str):
        return lambda: create("test", events=list(events), to=ToFunction("test"), operator=by(), tenant=None)

    with subscribed():
        first, second = overlap_results(make("*"), make("task.dead"), commit=commit)

    assert first.error is None and second.waited
    assert isinstance(second.error, NameTaken) is commit
    assert Subscription.objects.get().events == (["*"] if commit else ["task.dead"])
