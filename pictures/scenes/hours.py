"""An hour of a busy day in the charts, thirty days in the service levels, and some tasks that run now."""

import random
from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction

from django_punctual import schedule, schedule_many
from pictures.stack import Stack
from tasks_app.core.lanes import LANES
from tasks_app.core.lateness import BUCKETS, bucket_of, histogram
from tasks_app.engine.beat.roll_up import roll_up
from tasks_app.models import MinuteFigures, ScheduleTask, ServiceMinute

from .times import MINUTE, now

TYPES = {"ORDER_MAIL": 70, "PRICE_UPDATE": 40, "PAYMENT_CHECK": 30, "NEWSLETTER_SEND": 12}  # about so many a minute
RUN_SECONDS = 1.5
DAYS = 30
RUNS_A_MINUTE, FAILED_A_MINUTE = 152, 0.26
DOWN = 11  # minutes, ten days ago
REPORTS, PAGES = 3, 900


def hours(stack: Stack) -> Iterator[None]:
    dice = random.Random(8)
    yield
    _levels()
    schedule_many("REPORT_BUILD", [{"key": f"month-{n}", "payload": {"pages": PAGES}} for n in range(1, REPORTS + 1)])
    _reminders(dice)
    running = ScheduleTask.objects.filter(task_type="REPORT_BUILD", status="RUNNING")
    stack.wait(lambda: running.count() == REPORTS, "the reports")
    roll_up()
    _figures(dice)


def _figures(dice: random.Random) -> None:
    """Up to the last whole minute, beside what really ran."""
    this = now().replace(second=0, microsecond=0)
    rows = []
    for ago in range(1, 61):
        minute = this - ago * MINUTE
        busy = 1.6 if minute.minute % 15 == 0 else 1.0
        for task_type, usual in TYPES.items():
            ran = round(usual * busy * dice.uniform(0.75, 1.25))
            failed = int(dice.random() < 0.06)
            late = histogram(dice.lognormvariate(2.7, 0.55) * busy for _ in range(ran))
            figures = {"ok": ran - failed, "failed": failed, "run_us": round(ran * RUN_SECONDS * 1e6)}
            rows.append(MinuteFigures(minute=minute, task_type=task_type, batches=ran, lateness=late, **figures))
    MinuteFigures.objects.bulk_create(rows, ignore_conflicts=True)


def _levels() -> None:
    """The sums of a month, an hour each, and the minutes in which one lane was down."""
    last = now().replace(second=0, microsecond=0) - MINUTE
    first = last - timedelta(days=DAYS)
    outage = last.replace(hour=12, minute=1) - timedelta(days=10)
    minutes = {first + n * 60 * MINUTE for n in range(DAYS * 24 + 1)} | {outage + n * MINUTE for n in range(DOWN)}
    rows = []
    for minute in sorted(minutes):
        passed = (minute - first) // MINUTE
        down = min(DOWN, max(0, (minute - outage) // MINUTE + 1))
        is_down = outage <= minute < outage + DOWN * MINUTE
        runs = passed * RUNS_A_MINUTE
        rows.append(
            ServiceMinute(
                minute=minute,
                state="DOWN" if is_down else "UP",
                served=list(LANES),
                down=["low"] if is_down else [],
                lost=[],
                paused=[],
                up_minutes=passed - down,
                down_minutes=down,
                ok=runs,
                failed=round(passed * FAILED_A_MINUTE),
                lateness=_lateness(runs),
            )
        )
    with transaction.atomic():
        ServiceMinute.objects.all().delete()  # what beats have judged since they began
        ServiceMinute.objects.bulk_create(rows)


def _lateness(runs: int) -> list[int]:
    counts = [0] * BUCKETS
    for ms, share in ((9, 0.2), (15, 0.5), (22, 0.27), (60, 0.02), (400, 0.01)):
        counts[bucket_of(ms)] += round(runs * share)
    return counts


def _reminders(dice: random.Random) -> None:
    """What comes due in the next hour, most of it at the quarters."""
    at = now()
    for n in range(260):
        minutes = dice.choice((15, 30, 45)) if n % 4 == 0 else dice.uniform(1, 60)
        schedule("ORDER_MAIL", f"reminder-{n}", at=at + minutes * MINUTE)
