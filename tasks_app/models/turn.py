"""The turns of jobs whose instances must not run over each other: who waits for one, and who has it."""

from django.db import models
from django.db.models import Q

from tasks_app.core.jobs import Overlap

from .base import OurModel


class Turn(OurModel):
    """An instance of a job with an overlap policy, from the day it is planned until it is found to be over."""

    NEW, QUEUED, TAKEN = "new", "queued", "taken"
    BACKFILL = "backfill"  # a policy of its own: it queues behind all others, and yields while it does not run

    task = models.BigIntegerField(primary_key=True)
    job = models.BigIntegerField()
    shard = models.SmallIntegerField(help_text="Of the job: the beat that dispatches it gives the turns.")
    at = models.DateTimeField(help_text="When it wants to run; those that wait go in this order.")
    policy = models.CharField(max_length=9, help_text="What it does if it is not its turn then.")
    state = models.CharField(
        max_length=6, db_default=NEW, help_text="new: nothing is decided; queued: it waits; taken: it may run."
    )
    alongside = models.BooleanField(
        db_default=False,
        help_text="It was under way when its job still allowed overlap, so others may have a turn beside it.",
    )
    passed = models.SmallIntegerField(
        db_default=0, help_text="How often others went before it, while it was the first in line of a backfill."
    )

    class Meta:
        db_table = "punctual_turn"
        default_permissions = ()
        indexes = [
            # The line of one job.
            models.Index(fields=["job", "state", "at", "task"], name="punctual_turn_line"),
            # What is to be decided next, and in which jobs somebody waits.
            models.Index(fields=["shard", "at"], name="punctual_turn_new", condition=Q(state="new")),
            models.Index(fields=["shard", "job"], name="punctual_turn_queued", condition=Q(state="queued")),
            # Those that go before what backfills have made, however much that is.
            models.Index(
                fields=["job", "at", "task"],
                name="punctual_turn_first",
                condition=Q(state="queued") & ~Q(policy="backfill"),
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["new", "queued", "taken"]), name="punctual_turn_state"),
            models.CheckConstraint(
                condition=Q(policy__in=[*(one for one in Overlap if one is not Overlap.ALLOW), "backfill"]),
                name="punctual_turn_policy",
            ),
        ]
