"""What makes the audit trail provable: the place and hash of each entry, the head of each tenant's trail, and anchors.

An entry is written by its deed's transaction and gets its place after that: nobody who writes waits for another.
"""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel


class UnchainedEntry(OurModel):
    """An entry that has no place yet; a trigger writes it with each entry."""

    entry = models.BigIntegerField(primary_key=True, db_column="entry_id")
    created_at = models.DateTimeField()
    looked_at = models.DateTimeField(
        null=True, help_text="The look that found it, with so many others that they get their places part by part."
    )

    class Meta:
        db_table = "punctual_audit_unchained"
        default_permissions = ()
        indexes = [
            models.Index(fields=["looked_at"], name="punctual_audit_looked", condition=Q(looked_at__isnull=False))
        ]


class MissingEntry(OurModel):
    """An entry that was gone when it should have got its place: somebody has deleted it."""

    entry = models.BigIntegerField(primary_key=True, db_column="entry_id")
    created_at = models.DateTimeField()
    noticed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_audit_missing"
        default_permissions = ()
        indexes = [models.Index(fields=["noticed_at"], name="punctual_audit_missed")]


class SkippedEntry(OurModel):
    """An entry of a broken trail. It gets its place when the trail is repaired."""

    pk = models.CompositePrimaryKey("tenant", "entry")
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", help_text="Empty: what all tenants share.")
    entry = models.BigIntegerField(db_column="entry_id")
    created_at = models.DateTimeField()

    class Meta:
        db_table = "punctual_audit_skipped"
        default_permissions = ()


class AuditLink(OurModel):
    """The place of an entry in its tenant's trail; never changed."""

    pk = models.CompositePrimaryKey("tenant", "place")
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", help_text="Empty: what all tenants share.")
    place = models.BigIntegerField(help_text="From 1, in the order of commit.")
    entry = models.BigIntegerField(db_column="entry_id", unique=True)
    at = models.DateTimeField(help_text="The entry's created_at.")
    chained_at = models.DateTimeField(help_text="When it got its place.")
    digest = models.BinaryField(help_text="SHA-256 of the entry; see core/audit_chain.py.")
    hash = models.BinaryField(help_text="SHA-256 of all this and the hash before.")

    class Meta:
        db_table = "punctual_audit_link"
        default_permissions = ()
        indexes = [models.Index(fields=["at"], name="punctual_audit_link_at")]


class AuditTrail(OurModel):
    """How far a tenant's trail goes, and where what is kept of it begins."""

    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", primary_key=True)
    place = models.BigIntegerField(help_text="The last that was given.")
    hash = models.BinaryField(help_text="Of that place.")
    floor_place = models.BigIntegerField(
        db_default=0, help_text="The last whose entry was kept long enough and is gone."
    )
    floor_hash = models.BinaryField(help_text="Of that place; the oldest that is kept follows from it.")
    anchored_place = models.BigIntegerField(db_default=0, help_text="What the last anchor that names it says.")
    anchored_floor = models.BigIntegerField(db_default=0, help_text="The same, of the floor.")

    class Meta:
        db_table = "punctual_audit_trail"
        default_permissions = ()

    def __str__(self) -> str:
        return self.tenant or "what all tenants share"


class AuditAnchor(OurModel):
    """A signed statement of the heads of all trails that have changed since the one before."""

    no = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    key = models.CharField(max_length=16, db_collation="C", help_text="The id of the key that has signed it.")
    body = models.TextField(help_text="As it was signed and sent: a line of JSON.")
    hash = models.BinaryField(help_text="SHA-256 of the body; the next one names it.")

    class Meta:
        db_table = "punctual_audit_anchor"
        default_permissions = ()


class AnchorPlace(OurModel):
    """One of PUNCTUAL["AUDIT_ANCHOR_URLS"], and how far it has got."""

    place = models.TextField(primary_key=True, help_text="Its URL, as it may be shown.")
    sent_no = models.BigIntegerField(db_default=0)
    sent_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(db_default=Now())
    failing_since = models.DateTimeField(null=True)
    error = models.TextField(db_default="")

    class Meta:
        db_table = "punctual_audit_place"
        default_permissions = ()
