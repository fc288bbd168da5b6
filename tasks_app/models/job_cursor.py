"""How far a schedule is planned: one row for each distinct schedule and shard, whatever the number of its jobs."""

from django.db import models
from django.db.models import Q

from tasks_app.core.calendars import OnDayOff
from tasks_app.core.schedule import Gap, Repeat, Schedule

from .base import OurModel


class JobCursor(OurModel):
    """Whoever changes a job locks its cursor in share mode; the planner locks it alone."""

    cron = models.CharField(max_length=256, db_collation="C", db_default="")
    timezone = models.CharField(max_length=64, db_collation="C", db_default="UTC")
    dst_gap = models.CharField(max_length=5, db_default=Gap.SHIFT)
    dst_repeat = models.CharField(max_length=5, db_default=Repeat.ONCE)
    every = models.IntegerField(db_default=0)
    phase = models.IntegerField(db_default=0)
    calendar = models.BigIntegerField(db_default=0, help_text="0: none.")
    on_day_off = models.CharField(max_length=5, db_default=OnDayOff.SKIP)
    calendar_version = models.UUIDField(null=True, help_text="The version of it by which next_fire was computed.")
    shard = models.SmallIntegerField()
    next_fire = models.DateTimeField(help_text="Every firing before this one is planned.")
    after_job = models.BigIntegerField(
        db_default=0, help_text="Of this firing, the instances of jobs up to this one are planned too."
    )
    down_until = models.DateTimeField(
        null=True, help_text="Firings up to this instant passed in a downtime: a job catches up on them as it says."
    )

    class Meta:
        db_table = "punctual_job_cursor"
        indexes = [
            models.Index(fields=["shard", "next_fire"], name="punctual_job_cursor_due"),
            models.Index(fields=["calendar", "id"], name="punctual_job_cursor_calendar", condition=Q(calendar__gt=0)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("cron", "every", "phase", "timezone", "dst_gap", "dst_repeat", "calendar", "on_day_off", "shard")
                ],
                name="punctual_job_cursor_schedule",
            )
        ]

    def __str__(self) -> str:
        return f"{self.cron or self.every} {self.timezone}, shard {self.shard}"

    @staticmethod
    def key_of(schedule: Schedule) -> dict[str, object]:
        return {
            "cron": schedule.cron,
            "timezone": schedule.zone,
            "dst_gap": str(schedule.gap),
            "dst_repeat": str(schedule.repeat),
            "every": schedule.every,
            "phase": schedule.phase,
            "calendar": 0 if schedule.days is None else schedule.days.key.calendar,
            "on_day_off": str(OnDayOff.SKIP if schedule.days is None else schedule.on_day_off),
        }
