"""A task: one row to do, and all that is known of it. Live and lately finished ones; and, to read, all there are."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.jobs import again_key, manual_key
from tasks_app.core.lanes import DEFAULT_LANE, LANES
from tasks_app.core.states import LIVE_THOUGH_NOT_DUE, Status, is_live
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH

from .base import ConfidentialJSON, ConfidentialText, OurModel

KEY_LENGTH = 200


class TaskFields(OurModel):
    """What is known of a task, wherever its row lies."""

    # The unit: what this row is about. One *current* row per unit.
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", db_default=DEFAULT_TENANT)
    task_type = models.CharField(max_length=100, db_collation="C")
    biz_key = models.CharField(max_length=KEY_LENGTH, db_collation="C")
    current = models.BooleanField(db_default=True)
    replaces = models.BigIntegerField(null=True, help_text="The row of the same unit this one took over from.")
    idem_key = models.CharField(max_length=KEY_LENGTH, db_collation="C", null=True)
    token = models.UUIDField(
        db_default=RandomUUID(), help_text="Stays the same over retries and replacement; for other systems."
    )

    # The job that fired it, and for which time. Empty, and without cost, for all other tasks.
    job = models.BigIntegerField(null=True)
    fire_time = models.DateTimeField(null=True)

    status = models.CharField(max_length=9, choices=[(s.value, s.value) for s in Status])
    execute_time = models.DateTimeField(help_text="What the user asked for.")
    due_at = models.DateTimeField(null=True, help_text="May be claimed from this moment on; empty: never.")
    claimed_due = models.DateTimeField(null=True, help_text="What due_at was when it was last claimed.")
    allowed_at = models.DateTimeField(
        null=True,
        help_text="Late from here, if this is later: planned for the past, or held by a limit or a paused lane.",
    )

    lane = models.CharField(max_length=8, db_collation="C", db_default=DEFAULT_LANE)
    shard = models.SmallIntegerField()
    solo = models.BooleanField(db_default=False, help_text="Tried alone, since a batch it was in was lost.")
    batch_no = models.UUIDField(null=True)
    limited = models.BooleanField(
        db_default=False, help_text="Its type has a limit: claimed by type, apart from what has none."
    )

    attempt = models.IntegerField(db_default=0, help_text="Failures since the last success, roll or replay.")
    retry_count = models.IntegerField(db_default=0, help_text="Failures over the row's whole life.")
    max_retry = models.SmallIntegerField()
    repeat_after = models.DurationField(null=True, help_text="Rolling: again so long after it finished.")
    expires_after = models.DurationField(null=True, help_text="Later than this past execute_time: not run.")

    ran_in = models.UUIDField(null=True, help_text="The batch of the last run that ended.")
    start_time = models.DateTimeField(null=True)
    finish_time = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=50, db_default="")
    error_msg = ConfidentialText(db_default="")
    cancelled_by = models.CharField(max_length=150, db_default="")
    cancelled_from = models.CharField(
        max_length=TENANT_LENGTH,
        db_collation="C",
        null=True,
        help_text="The tenant of the token that cancelled it; empty: a person, or the scheduler.",
    )
    payload = ConfidentialJSON(db_default={})
    payload_bytes = models.BinaryField(null=True, help_text="An encrypted payload; the other field names its key.")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    result = ConfidentialJSON(null=True, help_text="What the handler returned, if that is small JSON.")

    # Effects that a task could not have: handed on to tasks of their own. Empty, and without cost, for all others.
    deferred_from = models.BigIntegerField(null=True, help_text="The task that handed this effect on.")
    deferred = ArrayField(
        models.BigIntegerField(), null=True, help_text="The tasks that its effects were handed on to."
    )
    retry_for = models.DurationField(
        null=True, help_text="Retried until so long past execute_time, however often; empty: max_retry times."
    )

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.task_type} {self.biz_key}"

    @property
    def live(self) -> bool:
        """It still has something to do."""
        return is_live(self.status, self.due_at is not None)

    @property
    def manual(self) -> bool:
        """Somebody triggered this instance of a job; its schedule did not."""
        return self.job is not None and self.biz_key.startswith(manual_key(self.job))

    @property
    def again(self) -> bool:
        """A backfill ran this firing of a job once more."""
        return self.job is not None and self.biz_key.startswith(again_key(self.job))


class ScheduleTask(TaskFields):
    """Live, or finished within KEEP_LIVE_SECONDS: all that the engine reads and writes."""

    # Where a look finds what waits. Most tasks have an entry in the timetable, which stays until the row goes to the
    # past: so neither claim nor settle changes an index. What waits again, or is claimed by its type, waits apart: a
    # trigger sees to that, whoever writes due_at. What waits and has no wait_at waits at its entry.
    entry_at = models.DateTimeField(null=True, help_text="What due_at was when it was new, if that was yet to come.")
    wait_at = models.DateTimeField(null=True, help_text="What due_at is, unless it waits at its entry.")

    class Meta:
        db_table = "punctual_task"
        # Claim and settle must stay heap-only updates: no index may have `status`, `due_at`, or any other column that
        # they write, in its keys or predicate. tests/database/sql/test_storage.py watches.
        indexes = [
            models.Index(
                fields=["shard", "lane", "entry_at", "id"],
                name="punctual_task_entry",
                condition=Q(entry_at__isnull=False),
            ),
            models.Index(
                fields=["shard", "lane", "wait_at"],
                name="punctual_task_wait",
                condition=Q(wait_at__isnull=False, limited=False),
            ),
            # Apart, so that a backlog that may not be claimed now is not stepped over in every look for the rest. With
            # the tenant, so that a million of them can be counted without reading their rows.
            models.Index(
                fields=["task_type", "lane", "wait_at"],
                include=["tenant"],
                name="punctual_task_wait_limited",
                condition=Q(wait_at__isnull=False, limited=True),
            ),
            # The same of what rolls without one: few types do, so that hardly a claim pays for it.
            models.Index(
                fields=["task_type", "tenant", "wait_at"],
                name="punctual_task_wait_rolling",
                condition=Q(wait_at__isnull=False, limited=False, repeat_after__isnull=False),
            ),
            models.Index(fields=["job", "fire_time"], name="punctual_task_job", condition=Q(job__isnull=False)),
            # What failed and waits. A success writes error_code as empty as it was, unless the try before had failed.
            models.Index(
                fields=["task_type", "tenant"],
                name="punctual_task_wait_failing",
                condition=Q(wait_at__isnull=False, error_code__gt=""),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["biz_key", "task_type", "tenant"],
                name="punctual_task_unit",
                condition=Q(current=True),
            ),
            models.UniqueConstraint(
                fields=["tenant", "idem_key"], name="punctual_task_idem", condition=Q(idem_key__isnull=False)
            ),
            models.CheckConstraint(condition=Q(status__in=list(Status)), name="punctual_task_status"),
            models.CheckConstraint(condition=Q(lane__in=LANES), name="punctual_task_lane"),
            models.CheckConstraint(
                condition=(Q(status=Status.RUNNING) & Q(batch_no__isnull=False))
                | (~Q(status=Status.RUNNING) & Q(batch_no__isnull=True)),
                name="punctual_task_running_has_batch",
            ),
            models.CheckConstraint(
                condition=Q(due_at__isnull=True)
                | Q(status__in=[Status.INIT, Status.FAIL])
                | Q(status=Status.SUCCESS, repeat_after__isnull=False),
                name="punctual_task_due_is_claimable",
            ),
            models.CheckConstraint(
                condition=Q(current=True) | (Q(due_at__isnull=True) & ~Q(status__in=list(LIVE_THOUGH_NOT_DUE))),
                name="punctual_task_live_is_current",
            ),
        ]
        permissions = [
            ("operate_scheduletask", "Can retry, cancel and move tasks"),
            ("decrypt_scheduletask", "Can read what is encrypted"),
        ]


class PastFields(TaskFields):
    """And what only the past knows of it."""

    retention = models.CharField(max_length=20, db_collation="C", help_text="The class in which it is kept.")
    worker = models.CharField(max_length=200, null=True, help_text="Who ran it last.")

    class Meta:
        abstract = True


class PastTask(PastFields):
    """Over: in partitions by class and day, which are dropped. Nothing is changed here, but a row may go back."""

    class Meta:
        db_table = "punctual_past"
        default_permissions = ()


class AnyTask(PastFields):
    """Every task there is, live or over: for whoever reads. A view; of what is live, the last two fields are empty."""

    class Meta:
        db_table = "punctual_any_task"
        managed = False
        default_permissions = ()
