"""A job: the rule by which tasks come into being. Its instances are tasks with `job` and `fire_time`."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.calendars import OnDayOff
from tasks_app.core.graphs import IfParentFails, When
from tasks_app.core.jobs import CatchUp, JobStatus, OnResume, Overlap
from tasks_app.core.lanes import DEFAULT_LANE, LANES
from tasks_app.core.schedule import Gap, Repeat, Schedule
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH

from .base import ArrayField, ConfidentialJSON, OurModel
from .calendar import days_of

NAME_LENGTH = 150
# Jobs whose runs have something of their own; as job_options.sql asks for it.
OWN = (
    Q(timeout__isnull=False)
    | Q(backoff__isnull=False)
    | ~Q(overlap=Overlap.ALLOW)
    | Q(has_parents=True)
    | Q(has_children=True)
    | Q(linked_at__isnull=False)
)


class JobDefinition(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", db_default=DEFAULT_TENANT)
    name: str = models.CharField(max_length=NAME_LENGTH, db_collation="C")
    revision = models.IntegerField(db_default=1, help_text="Grows with every change; an edit names the one it saw.")

    # What runs.
    task_type = models.CharField(max_length=100, db_collation="C")
    payload: Any = ConfidentialJSON(db_default={})
    lane = models.CharField(max_length=8, db_collation="C", db_default=DEFAULT_LANE)
    max_retry = models.SmallIntegerField()
    backoff = ArrayField(
        models.FloatField(), null=True, help_text="Seconds before each retry; the last repeats. Empty: the handler's."
    )
    timeout = models.FloatField(null=True, help_text="Seconds; empty: the handler's.")
    expires_after = models.DurationField(null=True, help_text="An instance later than this is not run any more.")

    # When: a cron string, an interval in seconds, or one time.
    cron = models.CharField(max_length=256, db_default="")
    every = models.IntegerField(db_default=0)
    phase = models.IntegerField(db_default=0)
    run_at = models.DateTimeField(null=True)
    timezone = models.CharField(max_length=64, db_default="UTC")
    dst_gap = models.CharField(max_length=5, db_default=Gap.SHIFT)
    dst_repeat = models.CharField(max_length=5, db_default=Repeat.ONCE)
    calendar = models.BigIntegerField(null=True, help_text="Whose days off it keeps; empty: it fires on any day.")
    on_day_off = models.CharField(max_length=5, db_default=OnDayOff.SKIP)
    start_at = models.DateTimeField(null=True, help_text="No firing before this.")
    end_at = models.DateTimeField(null=True, help_text="No firing after this.")
    max_runs = models.IntegerField(null=True)
    runs = models.IntegerField(db_default=0, help_text="Firings planned so far; counted where max_runs is set.")
    jitter = models.IntegerField(db_default=0, help_text="Seconds over which equal schedules are spread.")
    jitter_offset = models.IntegerField(db_default=0, help_text="This job's own share of it, always the same.")
    catch_up = models.CharField(max_length=6, db_default=CatchUp.LATEST)
    catch_up_window = models.IntegerField(help_text="Seconds; what was missed longer ago stays missed.")
    catch_up_most = models.IntegerField(help_text="Missed firings that are made up for, at most.")
    overlap = models.CharField(
        max_length=9, db_default=Overlap.ALLOW, help_text="What a firing does while an older instance is under way."
    )

    # Its place in a graph; punctual_job_parent has the parents. The two flags say that to those who must not look.
    has_parents = models.BooleanField(db_default=False, help_text="It runs after others, and has no schedule.")
    has_children = models.BooleanField(db_default=False)
    when = models.CharField(
        max_length=11, db_column="run_when", db_default=When.ALL_SUCCESS, help_text="What it waits for."
    )
    if_parent_fails = models.CharField(max_length=6, db_default=IfParentFails.WAIT)

    status = models.CharField(max_length=6, db_default=JobStatus.ACTIVE)
    pause_reason = models.TextField(db_default="")
    paused_by = models.CharField(max_length=150, db_default="")
    paused_at = models.DateTimeField(null=True)
    paused_until = models.DateTimeField(null=True, help_text="Resumes by itself then; empty: when told.")
    on_resume = models.CharField(max_length=6, db_default=OnResume.SKIP)

    # How far it is planned.
    shard = models.SmallIntegerField()
    cursor = models.BigIntegerField(null=True, help_text="The punctual_job_cursor of its schedule; empty for one time.")
    plan_from = models.DateTimeField(help_text="Only firings after this are this job's.")
    owed = ArrayField(
        models.DateTimeField(), null=True, help_text="Firings from before plan_from that a pause took back."
    )

    overridden = models.BooleanField(
        db_default=False, help_text="Somebody skipped or moved some of its firings: punctual_firing_override."
    )

    created_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    linked_at = models.DateTimeField(
        null=True, help_text="When its parents were last changed: runs from before keep theirs."
    )

    class Meta:
        db_table = "punctual_job"
        verbose_name = "job"
        indexes = [
            models.Index(fields=["cursor", "id"], name="punctual_job_planned", condition=Q(status=JobStatus.ACTIVE)),
            models.Index(
                fields=["cursor"],
                name="punctual_job_counted",
                condition=Q(status=JobStatus.ACTIVE, max_runs__isnull=False),
            ),
            # Those whose instances wait for their turn.
            models.Index(
                fields=["cursor"],
                name="punctual_job_turns",
                condition=Q(status=JobStatus.ACTIVE) & ~Q(overlap=Overlap.ALLOW),
            ),
            # What has had its last firing.
            models.Index(
                fields=["cursor", "end_at"],
                name="punctual_job_ending",
                condition=Q(status=JobStatus.ACTIVE, end_at__isnull=False),
            ),
            # Whose instances bring others along.
            models.Index(
                fields=["cursor", "id"],
                name="punctual_job_rooted",
                condition=Q(status=JobStatus.ACTIVE, has_children=True),
            ),
            # What a start has to read of the jobs of its batch.
            models.Index(fields=["id"], name="punctual_job_own", condition=OWN),
            # For lists: of a type, and of what is paused.
            models.Index(fields=["tenant", "task_type", "name"], name="punctual_job_type"),
            models.Index(fields=["tenant", "name"], name="punctual_job_paused", condition=Q(status=JobStatus.PAUSED)),
            models.Index(fields=["calendar", "id"], name="punctual_job_calendar", condition=Q(calendar__isnull=False)),
            models.Index(fields=["paused_until"], name="punctual_job_resumes", condition=Q(paused_until__isnull=False)),
        ]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="punctual_job_name"),
            models.CheckConstraint(condition=Q(lane__in=LANES), name="punctual_job_lane"),
            models.CheckConstraint(condition=Q(status__in=list(JobStatus)), name="punctual_job_status"),
            models.CheckConstraint(condition=Q(catch_up__in=list(CatchUp)), name="punctual_job_catch_up"),
            models.CheckConstraint(condition=Q(when__in=list(When)), name="punctual_job_when"),
            models.CheckConstraint(
                condition=Q(if_parent_fails__in=list(IfParentFails)), name="punctual_job_if_parent_fails"
            ),
            models.CheckConstraint(
                condition=Q(has_parents=False) | Q(cron="", every=0, run_at__isnull=True, cursor__isnull=True),
                name="punctual_job_child_has_no_schedule",
            ),
            models.CheckConstraint(condition=Q(overlap__in=list(Overlap)), name="punctual_job_overlap"),
            models.CheckConstraint(
                condition=(Q(run_at__isnull=False) & Q(cursor__isnull=True)) | Q(run_at__isnull=True),
                name="punctual_job_one_time_has_no_cursor",
            ),
        ]
        default_permissions = ("view",)
        permissions = [("operate_jobdefinition", "Can create, edit, pause, resume, trigger and delete jobs")]

    def __str__(self) -> str:
        return self.name

    @property
    def schedule(self) -> Schedule:
        return Schedule(
            cron=self.cron,
            zone=self.timezone,
            gap=Gap(self.dst_gap),
            repeat=Repeat(self.dst_repeat),
            every=self.every,
            phase=self.phase,
            at=self.run_at,
            days=None if self.calendar is None else days_of(self.calendar),
            on_day_off=OnDayOff(self.on_day_off),
        )
