"""Who waits for whom: a row for each task that a BLOCKED one was made to wait for; gone when that is released."""

from django.db import models
from django.db.models import Q

from .base import OurModel


class TaskWait(OurModel):
    pk = models.CompositePrimaryKey("task", "parent")
    task = models.BigIntegerField(help_text="The one that is BLOCKED.")
    parent = models.BigIntegerField(help_text="The current row of the unit that it waits for.")
    ended = models.CharField(
        max_length=10,
        db_collation="C",
        null=True,
        help_text="How the parent ended, if somebody noted it: the row itself, while it is live, is what counts.",
    )

    class Meta:
        db_table = "punctual_wait"
        default_permissions = ()
        indexes = [
            models.Index(fields=["parent"], name="punctual_wait_parent"),
            # What alarms look at: those that wait for what did not come.
            models.Index(
                fields=["parent", "task"],
                name="punctual_wait_failed",
                condition=Q(ended__in=["CANCELLED", "DEAD"]),
            ),
        ]

    def __str__(self) -> str:
        return f"task {self.task} after task {self.parent}"
