"""Safeguards: where each one is, what it did and why, what it holds back, and the figures that they go by."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import ArrayField, OurModel

SUBJECT_LENGTH = 340


class Safeguard(OurModel):
    """One that is on, or about to be, or that an operator has decided about; of the others there is no row."""

    name = models.CharField(max_length=20, db_collation="C")
    subject = models.CharField(
        max_length=SUBJECT_LENGTH,
        db_collation="C",
        help_text="A type, host: and a host, or tenant: and a scope; empty: all.",
    )
    stage = models.SmallIntegerField(db_default=0, help_text="0: off.")
    over_since = models.DateTimeField(null=True, help_text="The limit has been passed since then.")
    calm_since = models.DateTimeField(null=True, help_text="All has been well since then.")
    stage_since = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True, help_text="When it last went off.")
    relapses = models.SmallIntegerField(db_default=0, help_text="How often it went on again shortly after its end.")
    figures = models.JSONField(db_default={})
    order = models.CharField(max_length=6, db_default="", help_text="force, forbid or end: what an operator wants.")
    order_stage = models.SmallIntegerField(db_default=0)
    order_until = models.DateTimeField(null=True)
    order_by = models.CharField(max_length=150, db_default="")
    order_reason = models.TextField(db_default="")
    looked_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_safeguard"
        default_permissions = ("view",)
        permissions = [("operate_safeguard", "Can force, forbid and end safeguards")]
        constraints = [
            models.UniqueConstraint(fields=["name", "subject"], name="punctual_safeguard_once"),
            models.CheckConstraint(condition=Q(stage__gte=0), name="punctual_safeguard_stage"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.subject}".rstrip()


class SafeguardIncident(OurModel):
    """A safeguard from when it went on until it went off: on what figures, and what it did."""

    name = models.CharField(max_length=20, db_collation="C")
    subject = models.CharField(max_length=SUBJECT_LENGTH, db_collation="C")
    sentence = models.TextField(help_text="What was found, for people.")
    figures = models.JSONField()
    actions = models.JSONField(help_text="Each with its time: what was held back, and let go again.")
    stage = models.SmallIntegerField(help_text="Where it is now; the highest it was, once it is closed.")
    dry = models.BooleanField(db_default=False, help_text="It was only told.")
    forced_by = models.CharField(max_length=150, db_default="")
    opened_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)
    ending = models.TextField(db_default="", help_text="Why it ended.")

    class Meta:
        db_table = "punctual_safeguard_incident"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["name", "subject"],
                name="punctual_safeguard_incident_open",
                condition=Q(closed_at__isnull=True),
            )
        ]
        indexes = [
            models.Index(fields=["closed_at"], name="punctual_safeguard_closed", condition=Q(closed_at__isnull=False))
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.subject}: {self.sentence}"


class Curb(OurModel):
    """What a safeguard holds back. A layer of its own: it changes no pause and no limit that anybody else has set."""

    name = models.CharField(max_length=20, db_collation="C", help_text="Of the safeguard, ...")
    subject = models.CharField(max_length=SUBJECT_LENGTH, db_collation="C", help_text="... and its subject.")
    kind = models.CharField(max_length=9, db_collation="C")
    target = models.CharField(max_length=SUBJECT_LENGTH, db_collation="C", help_text="A lane, a type, a host, or *.")
    of_tenant = models.CharField(
        max_length=TENANT_LENGTH, db_default="", db_collation="C", help_text="Whose tasks it holds back; empty: all."
    )
    rate = models.FloatField(null=True, help_text="Tasks a second; 0: none.")
    max_running = models.IntegerField(null=True)
    since = models.DateTimeField(db_default=Now())
    permits = models.FloatField(db_default=1.0, help_text="Of a tenant's: tasks that could start at filled_at.")
    filled_at = models.DateTimeField(db_default=Now())
    returned = models.IntegerField(db_default=0, help_text="Tasks that were sent back since counted_at.")
    waiting = models.IntegerField(db_default=0, help_text="Tasks that were sent back in the stretch before that.")
    counted_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_curb"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "target", "of_tenant", "name", "subject"], name="punctual_curb_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["lane", "type", "retries", "host", "backfills", "triggers"]),
                name="punctual_curb_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.of_tenant} {self.target}".replace("  ", " ")


class Pulse(OurModel):
    """What ran of a type and lane in one minute, of the last hour: what safeguards go by."""

    pk = models.CompositePrimaryKey("minute", "lane", "task_type")
    minute = models.DateTimeField()
    lane = models.CharField(max_length=8, db_collation="C")
    task_type = models.CharField(max_length=100, db_collation="C")
    ok = models.IntegerField()
    failed = models.IntegerField()
    run_us = models.BigIntegerField()
    lateness = ArrayField(models.IntegerField(), help_text="Histogram, see core/lateness.py.")
    returned = models.IntegerField(
        db_default=0, help_text="Of the outcomes: of tasks that were away, which took no time."
    )

    class Meta:
        db_table = "punctual_pulse"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.task_type} {self.minute:%H:%M}"


class PulseReader(OurModel):
    """How far the batches were read for it. Whoever locks this row looks at the safeguards."""

    id = models.SmallIntegerField(primary_key=True, db_default=1)
    read_until = models.DateTimeField(db_default=Now())
    served_since = models.JSONField(db_default={}, help_text="By lane: since when it is served, and nobody holds it.")
    sampled_at = models.DateTimeField(null=True, help_text="When what costs more was last looked at.")

    class Meta:
        db_table = "punctual_pulse_reader"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(id=1), name="punctual_pulse_reader_one")]
