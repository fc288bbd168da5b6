"""What `manage.py backup` knows of one of the places of the settings; written by it, and shown as status."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class BackupPlace(OurModel):
    place: str = models.TextField(primary_key=True, help_text="Its URL, without options.")
    number = models.SmallIntegerField(help_text="In the settings, from 1.")
    seen_at = models.DateTimeField(db_default=Now(), help_text="When this row was last written.")
    covered_until = models.DateTimeField(null=True, help_text="All that was committed before then is there.")
    behind_bytes = models.BigIntegerField(null=True, help_text="Of the log, that were not there when it was written.")
    base = models.TextField(null=True, help_text="The label of the newest base backup.")
    base_at = models.DateTimeField(null=True, help_text="When it was complete.")
    base_bytes = models.BigIntegerField(null=True)
    bases = models.IntegerField(null=True, help_text="How many there are.")
    restored = models.TextField(null=True, help_text="The label of the base that was last restored and started.")
    restored_at = models.DateTimeField(null=True)
    error = models.TextField(db_default="", help_text="Why it can't be written to, if it can't.")
    error_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "punctual_backup_place"
        default_permissions = ()

    def __str__(self) -> str:
        return self.place
