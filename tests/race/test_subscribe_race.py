"""Several processes of an app subscribe when they start: there is one subscription, and all are content."""

from tasks_app.client import ToFunction, subscribe
from tasks_app.models import AuditEntry, Subscription
from tests.support.marks import commits
from tests.support.outbox import subscribed
from tests.support.overlap import overlap

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
