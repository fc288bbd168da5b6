"""A steady load on a fleet of real processes, and what became of it."""

from collections import Counter
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from django_punctual import schedule_many
from tasks_app.models import ScheduleTask, ShardLease
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

FINAL = ("SUCCESS", "DEAD", "CANCELLED")


class Load:
    """So many tasks a second for so long, scheduled ahead; each leaves an effect."""

    def __init__(
        self, rate: int, seconds: float, *, task_type: str = "T_PLAIN", lane: str | None = None, after: float = 1.0
    ) -> None:
        self.rate = rate
        self.first = timezone.now() + timedelta(seconds=after)
        number = int(rate * seconds)
        self.last = self.first + timedelta(seconds=seconds)
        tasks = [{"key": n, "at": self.first + timedelta(seconds=n / rate)} for n in range(number)]
        self.ids = [answer.task_id for answer in schedule_many(task_type, tasks, lane=lane)]

    def wait_for(self, seconds: float, describe=None) -> None:
        """Until so long after the first task."""
        moment = self.first + timedelta(seconds=seconds)
        wait_until(lambda: timezone.now() >= moment, timeout=seconds + 30, describe=describe)

    def wait_done(self, timeout: float, describe=None) -> None:
        wait_until(
            lambda: not ScheduleTask.objects.filter(id__in=self.ids).exclude(status__in=FINAL).exists(),
            timeout,
            describe=lambda: f"{unfinished()}\n{describe() if describe else ''}",
        )

    def assert_each_ran_once(self) -> None:
        runs = Counter(Effect.objects.filter(task_id__in=self.ids).values_list("task_id", flat=True))
        statuses = Counter(ScheduleTask.objects.filter(id__in=self.ids).values_list("status", flat=True))
        assert statuses == {"SUCCESS": len(self.ids)}
        assert [task_id for task_id, times in runs.items() if times > 1] == []
        assert len(runs) == len(self.ids)

    def lateness_ms(self, *, first: float = 0.0, last: float = 1e9) -> list[float]:
        """Of the tasks scheduled between so many seconds after the first, sorted."""
        rows = ScheduleTask.objects.filter(
            id__in=self.ids,
            execute_time__gte=self.first + timedelta(seconds=first),
            execute_time__lte=min(self.last, self.first + timedelta(seconds=min(last, 1e6))),
        ).values_list("start_time", "execute_time")
        return sorted((start - scheduled).total_seconds() * 1000 for start, scheduled in rows if start is not None)


def percentile(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))]


def unfinished() -> str:
    rows = ScheduleTask.objects.exclude(status__in=FINAL)
    return f"{rows.count()} unfinished, such as {list(rows.values('id', 'status', 'due_at', 'shard')[:5])}"


def shards_of(pid: int) -> set[int]:
    """The shards that the beat with this pid holds."""
    held = ShardLease.objects.filter(holder_name__endswith=f":{pid}", holder__isnull=False)
    return set(held.values_list("shard", flat=True))


def shared_by(*pids: int) -> bool:
    """Whether all shards are held by these beats, each a fair share."""
    held = [len(shards_of(pid)) for pid in pids]
    return sum(held) == ShardLease.objects.count() > 0 and max(held) - min(held) <= 1


def most_in_a_second(task_type: str) -> int:
    """Most handlers of a type that began within any second."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(n) FROM (SELECT count(*) OVER (ORDER BY start_time RANGE BETWEEN CURRENT ROW AND"
            " interval '1 s' FOLLOWING) AS n FROM punctual_task WHERE task_type = %s AND start_time IS NOT NULL) AS w",
            [task_type],
        )
        return cursor.fetchone()[0]


def most_at_once(task_type: str) -> int:
    """Most handlers of a type that ran at the same time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(n) FROM (SELECT sum(step) OVER (ORDER BY at, step) AS n FROM punctual_task,"
            " LATERAL (VALUES (start_time, 1), (finish_time, -1)) AS steps(at, step)"
            " WHERE task_type = %s AND start_time IS NOT NULL) AS w",
            [task_type],
        )
        return cursor.fetchone()[0]
