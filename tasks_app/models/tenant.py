"""Tenants: who shares the installation, whether their tasks run, and how much they may have."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.lanes import LANES
from tasks_app.core.tenants import TENANT_LENGTH, TITLE_LENGTH, USUAL_WEIGHT

from .base import ArrayField, OurModel


class Tenant(OurModel):
    """What is known of a tenant. One without a row is active and has no quotas; rows come when they are needed."""

    ACTIVE, SUSPENDED, ARCHIVED = "ACTIVE", "SUSPENDED", "ARCHIVED"

    name: str = models.CharField(max_length=TENANT_LENGTH, primary_key=True, db_collation="C")
    title = models.CharField(max_length=TITLE_LENGTH, db_default="", help_text="For people.")
    state: str = models.CharField(max_length=9, db_default=ACTIVE, db_collation="C")
    reason = models.TextField(db_default="", help_text="Why it is suspended, or was archived.")
    since = models.DateTimeField(db_default=Now(), help_text="In this state.")
    until = models.DateTimeField(null=True, help_text="Suspended until then; empty: until somebody resumes it.")
    changed_by = models.CharField(max_length=150, db_default="")
    closed = models.BooleanField(
        db_default=False, help_text="It is being archived, or was: nothing new is taken for it."
    )
    timezone = models.CharField(max_length=64, db_default="", help_text="Of its new jobs by the clock; empty: UTC.")
    contacts = ArrayField(models.CharField(max_length=254), db_default=[], help_text="Whom to tell.")
    weight = models.SmallIntegerField(db_default=USUAL_WEIGHT, help_text="Its share beside others.")
    encrypted = models.BooleanField(
        db_default=False, help_text="Payloads, results, errors and secrets are encrypted with a key of its own."
    )
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    # What holds where neither a caller nor a type names anything; empty: what the settings say.
    lane = models.CharField(max_length=8, db_default="", db_collation="C")
    retention = models.CharField(max_length=20, db_default="", db_collation="C", help_text="The class, by its name.")
    retry_share = models.FloatField(null=True, help_text="Of all its tries: retries, at most.")
    retry_burst = models.IntegerField(null=True, help_text="Retries that may come at once.")

    # Quotas; empty: none.
    max_jobs = models.IntegerField(null=True)
    max_tasks = models.IntegerField(null=True, help_text="Live ones.")
    max_payload_bytes = models.IntegerField(null=True, help_text="Of one task, as JSON.")
    schedules_per_second = models.IntegerField(null=True, help_text="New tasks, over some seconds.")
    max_running = models.IntegerField(null=True, help_text="Tasks that a worker has, or that are away.")
    max_history_days = models.IntegerField(null=True, help_text="That what is over may be kept.")
    calls_per_minute = models.IntegerField(null=True, help_text="Of the REST API, by all its tokens together.")

    # Kept by the beats for those with max_tasks or max_jobs.
    tasks = models.BigIntegerField(null=True, help_text="Live ones, when they were last counted.")
    jobs = models.BigIntegerField(null=True, help_text="When they were last counted; one too many: or more.")
    at_limit = models.BooleanField(db_default=False, help_text="It had max_tasks or more: no more are taken.")
    near = ArrayField(models.CharField(max_length=20), db_default=[], help_text="Quotas of which it was told.")

    class Meta:
        db_table = "punctual_tenant"
        default_permissions = ("view",)
        permissions = [("operate_tenant", "Can make, change, suspend and resume tenants")]
        indexes = [
            # What starts, plans and inserts asks for nothing else, however many tenants there are.
            models.Index(fields=["name"], name="punctual_tenant_suspended", condition=Q(state="SUSPENDED")),
            models.Index(
                fields=["name"],
                name="punctual_tenant_guarded",
                condition=Q(at_limit=True)
                | Q(max_payload_bytes__isnull=False)
                | Q(encrypted=True)
                | Q(closed=True)
                | Q(schedules_per_second__isnull=False),
            ),
            models.Index(fields=["name"], name="punctual_tenant_bounded", condition=Q(max_running__isnull=False)),
            # In which class the past of its tasks is kept, by other than the settings.
            models.Index(
                fields=["name"],
                name="punctual_tenant_kept",
                condition=Q(retention__gt="") | Q(max_history_days__isnull=False),
            ),
            models.Index(
                fields=["name"],
                name="punctual_tenant_counted",
                condition=Q(max_tasks__isnull=False) | Q(max_jobs__isnull=False),
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(lane__in=["", *LANES]), name="punctual_tenant_lane"),
            models.CheckConstraint(
                condition=Q(state__in=["ACTIVE", "SUSPENDED", "ARCHIVED"]), name="punctual_tenant_state"
            ),
            models.CheckConstraint(
                condition=~Q(state="ARCHIVED") | Q(closed=True), name="punctual_tenant_archived_is_closed"
            ),
            models.CheckConstraint(
                condition=Q(state="SUSPENDED") | Q(until__isnull=True), name="punctual_tenant_until_suspended"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def suspended(self) -> bool:
        return self.state == self.SUSPENDED

    @property
    def archived(self) -> bool:
        return self.state == self.ARCHIVED


class HeldTask(OurModel):
    """A task that came due while its tenant was suspended: when it was due, to be put back to."""

    task = models.BigIntegerField(primary_key=True)
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    due_at = models.DateTimeField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_held"
        default_permissions = ()
        indexes = [models.Index(fields=["tenant", "task"], name="punctual_held_of")]

    def __str__(self) -> str:
        return f"task {self.task}"


class ScheduleCount(OurModel):
    """How many tasks one statement has made for a tenant that has a quota for that; kept for some seconds."""

    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    at = models.DateTimeField(db_default=Now())
    tasks = models.IntegerField()

    class Meta:
        db_table = "punctual_schedule_count"
        default_permissions = ()
        indexes = [
            models.Index(fields=["tenant", "at"], name="punctual_schedule_count_of"),
            models.Index(fields=["at"], name="punctual_schedule_count_at"),
        ]

    def __str__(self) -> str:
        return f"{self.tasks} tasks of {self.tenant}"


class QuotaUse(OurModel):
    """How much of a quota a tenant has used in one hour; hours in which it used nothing have no row."""

    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    quota = models.CharField(max_length=20, db_collation="C")
    hour = models.DateTimeField()
    used = models.BigIntegerField(help_text="The most of it in that hour.")
    last = models.BigIntegerField(help_text="When it was last counted.")
    most = models.BigIntegerField(help_text="The quota, when it was last counted.")

    class Meta:
        db_table = "punctual_quota_use"
        default_permissions = ()
        verbose_name_plural = "quota use"
        indexes = [models.Index(fields=["hour"], name="punctual_quota_use_hour")]
        constraints = [models.UniqueConstraint(fields=["tenant", "quota", "hour"], name="punctual_quota_use_once")]

    def __str__(self) -> str:
        return f"{self.quota} of {self.tenant}"


class TenantArchive(OurModel):
    """How far a tenant is on its way into the archive; of one that is there, who sent it, when, and where it lies."""

    RUNNING, STOPPED, DONE = "RUNNING", "STOPPED", "DONE"
    WAIT, EXPORT, REMOVE = "WAIT", "EXPORT", "REMOVE"

    tenant = models.CharField(max_length=TENANT_LENGTH, primary_key=True, db_collation="C")
    state = models.CharField(max_length=7, db_default=RUNNING, db_collation="C")
    phase = models.CharField(max_length=6, db_default=WAIT, db_collation="C")
    folder = models.TextField(help_text="Where it lies, below the archive's root.")
    round = models.IntegerField(db_default=1, help_text="Times that all tables were looked through.")
    todo = models.JSONField(db_default=[], help_text="What this phase has left to do: tables, or files.")
    parts = models.JSONField(db_default=[], help_text="The files, each with what was read back from it.")
    in_flight = ArrayField(
        models.TextField(),
        null=True,
        help_text="Transactions that may not know of the last change here; empty: nobody has looked since.",
    )
    waits_for = models.TextField(db_default="", help_text="Why it does not go on, in words.")
    exported = models.BigIntegerField(db_default=0, help_text="Rows that are in the archive.")
    removed = models.BigIntegerField(db_default=0, help_text="Rows that were removed here.")
    destroy_key = models.BooleanField(db_default=False, help_text="Its keys are destroyed in the end.")
    error = models.TextField(db_default="", help_text="Of the last try, if that failed.")
    reason = models.TextField(db_default="")
    ordered_by = models.CharField(max_length=150, db_default="")
    ordered_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    holder = models.CharField(max_length=200, db_default="", help_text="The beat that works on it.")
    fence = models.IntegerField(db_default=0, help_text="Grows each time a beat takes it.")
    held_until = models.DateTimeField(null=True, help_text="Others leave it to that beat until then.")

    class Meta:
        db_table = "punctual_tenant_archive"
        default_permissions = ()
        indexes = [
            models.Index(fields=["tenant"], name="punctual_tenant_archive_due", condition=Q(state="RUNNING")),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["RUNNING", "STOPPED", "DONE"]), name="punctual_tenant_archive_state"
            ),
            models.CheckConstraint(
                condition=Q(phase__in=["WAIT", "EXPORT", "REMOVE"]), name="punctual_tenant_archive_phase"
            ),
        ]

    def __str__(self) -> str:
        return f"archive of tenant {self.tenant}: {self.state}"
