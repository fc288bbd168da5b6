"""The task row: `ScheduleTask` while it is live, `PastTask` afterwards, and `AnyTask`, a view of both."""

from typing import Any

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.jobs import again_key, manual_key
from tasks_app.core.lanes import DEFAULT_LANE, LANES
from tasks_app.core.states import LIVE_THOUGH_NOT_DUE, Status, is_live
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH

from .base import ArrayField, ConfidentialJSON, ConfidentialText, OurModel

KEY_LENGTH = 200


class TaskFields(OurModel):
    """The columns of a task, live or past."""

    # The unit that the task is about. A unit has one *current* row.
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", db_default=DEFAULT_TENANT)
    task_type = models.CharField(max_length=100, db_collation="C")
    biz_key = models.CharField(max_length=KEY_LENGTH, db_collation="C")
    current = models.BooleanField(db_default=True)
    replaces = models.BigIntegerField(null=True, help_text="The row of the same unit this one took over from.")
    idem_key = models.CharField(max_length=KEY_LENGTH, db_collation="C", null=True)
    token = models.UUIDField(
        db_default=RandomUUID(), help_text="Stays the same over retries and replacement; for other systems."
    )

    # The job and its fire time; NULL, which takes no space, for all other tasks.
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
    error_msg: str = ConfidentialText(db_default="")
    cancelled_by = models.CharField(max_length=150, db_default="")
    cancelled_from = models.CharField(
        max_length=TENANT_LENGTH,
        db_collation="C",
        null=True,
        help_text="The tenant of the token that cancelled it; empty: a person, or the scheduler.",
    )
    payload: Any = ConfidentialJSON(db_default={})
    payload_bytes = models.BinaryField(null=True, help_text="An encrypted payload; the other field names its key.")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())
    result: Any = ConfidentialJSON(null=True, help_text="What the handler returned, if that is small JSON.")

    asked_by = models.CharField(
        max_length=150,
        null=True,
        help_text="The person or API token that scheduled it; empty: code, or the schedule of its job.",
    )

    # Deferred effects, which became tasks of their own. NULL for most tasks.
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
        """Whether the task is due, waiting, running or away."""
        return is_live(self.status, self.due_at is not None)

    @property
    def manual(self) -> bool:
        """Whether a person, and not the schedule, triggered this run of a job."""
        return self.job is not None and self.biz_key.startswith(manual_key(self.job))

    @property
    def again(self) -> bool:
        """Whether a backfill repeated this firing of a job."""
        return self.job is not None and self.biz_key.startswith(again_key(self.job))


class ScheduleTask(TaskFields):
    """Live tasks, and those that finished within KEEP_LIVE_SECONDS: the rows that the engine reads and writes."""

    # Scans find a waiting task by entry_at, which only an INSERT writes. If the task waits again or is claimed by type,
    # they find it by wait_at, which a trigger sets whenever due_at changes. A first claim and a settle change no index.
    entry_at = models.DateTimeField(null=True, help_text="What due_at was when it was new, if that was yet to come.")
    wait_at = models.DateTimeField(null=True, help_text="What due_at is, unless it waits at its entry.")

    class Meta:
        db_table = "punctual_task"
        # Claim and settle must stay heap-only updates: no index may have a column that they write, such as `status` or
        # `due_at`, in its keys or predicate. tests/database/sql/test_storage.py checks it.
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
            # A separate index, so that scans of other tasks do not read a backlog that is held by a limit. It includes
            # the tenant, so that a million tasks can be counted without reading their rows.
            models.Index(
                fields=["task_type", "lane", "wait_at"],
                include=["tenant"],
                name="punctual_task_wait_limited",
                condition=Q(wait_at__isnull=False, limited=True),
            ),
            # Rolling tasks without a limit. Few types roll, so few claims maintain this index.
            models.Index(
                fields=["task_type", "tenant", "wait_at"],
                name="punctual_task_wait_rolling",
                condition=Q(wait_at__isnull=False, limited=False, repeat_after__isnull=False),
            ),
            models.Index(fields=["job", "fire_time"], name="punctual_task_job", condition=Q(job__isnull=False)),
            # Failed tasks that wait. A success changes error_code only if the previous attempt failed.
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
    """A task with the columns that are written when it moves to the past."""

    retention = models.CharField(max_length=20, db_collation="C", help_text="The class in which it is kept.")
    worker = models.CharField(max_length=200, null=True, help_text="Who ran it last.")

    class Meta:
        abstract = True


class PastTask(PastFields):
    """Finished tasks, partitioned by retention class and day. Rows never change, and partitions are dropped whole."""

    class Meta:
        db_table = "punctual_past"
        default_permissions = ()


class AnyTask(PastFields):
    """All tasks, live and past, for reading. A view; the last two columns are empty for live tasks."""

    class Meta:
        db_table = "punctual_any_task"
        managed = False
        default_permissions = ()
