"""A filter of a list that somebody has given a name."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel

NAME_LENGTH = 60
QUERY_LENGTH = 2_000


class SavedFilter(OurModel):
    """Of one person, in the tenant that they worked in. Users may be in another database, so no foreign key."""

    tenant = models.CharField(
        max_length=TENANT_LENGTH, db_collation="C", null=True, help_text="Empty: of somebody who works in all."
    )
    user_key = models.CharField(max_length=100, db_collation="C", help_text="The primary key of the user, as text.")
    page = models.CharField(max_length=20, db_collation="C", help_text="The list that it is for.")
    name = models.CharField(max_length=NAME_LENGTH, db_collation="C")
    query = models.CharField(max_length=QUERY_LENGTH, help_text="As in the list's address.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_saved_filter"
        default_permissions = ()  # who may see the list may have some
        constraints = [
            models.UniqueConstraint(
                fields=["user_key", "page", "tenant", "name"], nulls_distinct=False, name="punctual_saved_filter_of"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.page}: {self.name}"
