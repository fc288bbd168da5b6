"""The count of a beat for tests: time is moved by writing it, and what is shown is asked for in a word."""

from datetime import timedelta

from django.db.models import F

from tasks_app.engine.beat.counting import count
from tasks_app.metrics.reading import Histogram, read
from tasks_app.models import AwayOutcome, CountPass, TaskBatch

LONG_AGO = timedelta(seconds=30)  # has surely been committed


def begin() -> None:
    """From now on it is counted: what ended since the beginning of the test, too."""
    count()
    CountPass.objects.update(counted_until=F("counted_until") - 2 * LONG_AGO)


def counted() -> str:
    """As if all that has ended, and is not counted yet, had ended a while ago."""
    mark = CountPass.objects.get().counted_until
    TaskBatch.objects.filter(finished_at__gte=mark).update(finished_at=mark)
    AwayOutcome.objects.filter(at__gte=mark).update(at=mark)
    CountPass.objects.update(letters_seen_at=F("letters_seen_at") - LONG_AGO)
    return count()


def sampled() -> str:
    """The next time, with a new estimate."""
    CountPass.objects.update(sampled_at=None)
    return counted()


def value(name: str, *labels: str) -> float | None:
    return read().values.get(name, {}).get(labels)


def of(name: str) -> dict[tuple[str, ...], float]:
    return dict(read().values.get(name, {}))


def histogram(name: str, *labels: str) -> Histogram:
    return read().histograms[name][labels]
