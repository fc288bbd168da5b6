"""What this installation is: its identity, whether it may dispatch, and what an operator is asked about."""

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from .base import ArrayField, OurModel


class Installation(OurModel):
    """The one row of an installation. It travels with every copy of the database, and so tells a copy what it is."""

    ACTIVE, QUARANTINED, REHEARSING = "ACTIVE", "QUARANTINED", "REHEARSING"

    id = models.SmallIntegerField(primary_key=True, db_default=1)
    uid = models.UUIDField(db_default=RandomUUID(), help_text="Stays the same for as long as the installation lives.")
    environment = models.CharField(max_length=100, db_default="", help_text='PUNCTUAL["ENVIRONMENT"] of its processes.')
    facts = models.JSONField(null=True, help_text="What the database was when it was last seen well.")
    state = models.CharField(max_length=11, db_default=ACTIVE, db_collation="C")
    reason = models.TextField(db_default="")
    since = models.DateTimeField(db_default=Now())
    changed_by = models.CharField(max_length=150, db_default="")
    site = models.CharField(
        max_length=50, null=True, db_default="main", help_text="The one that may claim and start; empty: none may."
    )
    next_site = models.CharField(
        max_length=50, null=True, help_text="Chosen, and opened once nobody of the one before can start anything."
    )
    site_epoch = models.BigIntegerField(db_default=0, help_text="Grows whenever a site is chosen, or all stand by.")
    site_since = models.DateTimeField(db_default=Now())
    site_recovery = models.BigIntegerField(
        null=True, help_text="The recovery whose lanes the beats let go on, one after the other."
    )
    held_before = models.DateTimeField(null=True, help_text="What was due before then waits for an answer.")
    held_lanes = ArrayField(models.CharField(max_length=8), db_default=[], help_text="The lanes in which it waits.")
    silent_since = models.DateTimeField(null=True, help_text="Since when nobody had dispatched when it was asked.")
    answer = models.JSONField(null=True, help_text="What an operator has chosen, while beats carry it out.")

    class Meta:
        db_table = "punctual_installation"
        verbose_name = verbose_name_plural = "quarantine"
        default_permissions = ("view",)
        permissions = [("operate_installation", "Can put the installation into quarantine and let it go on")]
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="punctual_installation_one"),
            models.CheckConstraint(
                condition=Q(state__in=["ACTIVE", "QUARANTINED", "REHEARSING"]), name="punctual_installation_state"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.environment or 'installation'} {self.uid}"


class Site(Installation):
    """The same row, for a page of its own: which site works."""

    class Meta:
        proxy = True
        default_permissions = ()  # who may see and operate the installation may see and switch its sites
        verbose_name_plural = "sites"


class SignOfLife(OurModel):
    """When a beat that may dispatch was last here, and when each standby was last seen to stream. It travels with every
    copy, too. Apart from the installation's row, which every claim reads: these are written every few seconds."""

    BEAT, STANDBY = "beat", "standby"

    pk = models.CompositePrimaryKey("kind", "address")
    kind = models.CharField(max_length=7, db_collation="C")
    address = models.CharField(max_length=45, db_collation="C", help_text="Of a standby; empty: a socket of its files.")
    at = models.DateTimeField()

    class Meta:
        db_table = "punctual_sign"
        default_permissions = ()
        verbose_name_plural = "signs of life"
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["beat", "standby"]), name="punctual_sign_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.address}".strip()


class RehearsedTask(OurModel):
    """A task that reached a worker in a rehearsal and was not run: when it was due, to be put back to."""

    task = models.BigIntegerField(primary_key=True)
    due_at = models.DateTimeField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_rehearsed"
        default_permissions = ()

    def __str__(self) -> str:
        return f"task {self.task}"
