"""A campaign: one order for many tasks, carried out step by step; and the tasks that were chosen when it began."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.campaigns import CampaignState
from tasks_app.core.tenants import TENANT_LENGTH

from .base import ArrayField, OurModel


class Campaign(OurModel):
    operation = models.UUIDField(unique=True, help_text="Of its audit entries; the same one never begins twice.")
    tenant = models.CharField(
        max_length=TENANT_LENGTH, db_collation="C", null=True, help_text="Whose tasks all of them are; empty: any."
    )
    task_type = models.CharField(
        max_length=100, db_collation="C", null=True, help_text="The type of all of them; empty: any."
    )
    kind = models.CharField(max_length=20, help_text="What is done to each task.")
    state = models.CharField(max_length=9, db_default=CampaignState.RUNNING.value)
    actor = models.CharField(max_length=150)
    from_tenant = models.CharField(
        max_length=TENANT_LENGTH,
        db_collation="C",
        null=True,
        help_text="The tenant of the token that began it; empty: a person, or the scheduler.",
    )
    reason = models.TextField()
    selection = models.TextField(db_default="", help_text="What was looked for, in words.")
    options = models.JSONField(
        db_default={},
        help_text="`at`, `by`, `over`: the new times of a move. `undoes`: an operation. `lane`: of what is released. "
        "`which`: the firings of a backfill.",
    )
    cap = models.IntegerField(help_text="No more tasks than this were chosen.")
    rate = models.FloatField(null=True, help_text="Tasks a second; empty: as fast as it goes.")
    most_running = models.IntegerField(
        null=True, help_text="So many of what it released may not be over yet; empty: any number."
    )
    total = models.IntegerField(db_default=0, help_text="Tasks that were chosen.")
    more = models.BooleanField(db_default=False, help_text="There were more than these.")

    # How far it is. Written with the step itself: a step that is rolled back was never counted.
    done = models.IntegerField(db_default=0, help_text="Tasks that were dealt with, from the first on.")
    counts = models.JSONField(db_default={}, help_text="How many of them got which answer.")
    next_at = models.DateTimeField(db_default=Now(), help_text="The rate allows the next step from here on.")
    holder = models.CharField(max_length=200, db_default="", help_text="The beat that works on it.")
    held_until = models.DateTimeField(null=True, help_text="Others leave it to that beat until then.")
    failures = models.IntegerField(db_default=0, help_text="Steps that failed since the last that did not.")
    error = models.TextField(db_default="", help_text="The last of these failures.")

    # What became of the tasks that it released, as far as that is known.
    waiting = models.IntegerField(db_default=0)
    succeeded = models.IntegerField(db_default=0)
    died = models.IntegerField(db_default=0)
    otherwise = models.IntegerField(db_default=0, help_text="Cancelled, replaced, or gone.")
    measure_at = models.DateTimeField(null=True, help_text="When somebody looks again at those that wait.")

    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, help_text="When it was done or cancelled.")

    class Meta:
        db_table = "punctual_campaign"
        default_permissions = ()  # who may see tasks may see these
        indexes = [
            models.Index(
                fields=["next_at"], name="punctual_campaign_running", condition=Q(state=CampaignState.RUNNING)
            ),
            models.Index(
                fields=["measure_at"], name="punctual_campaign_measured", condition=Q(measure_at__isnull=False)
            ),
            models.Index(
                fields=["finished_at"], name="punctual_campaign_finished", condition=Q(finished_at__isnull=False)
            ),
            models.Index(fields=["id"], name="punctual_campaign_open", condition=Q(finished_at__isnull=True)),
            models.Index(fields=["tenant", "id"], name="punctual_campaign_whose"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=[one.value for one in CampaignState]), name="punctual_campaign_state"
            ),
            models.CheckConstraint(
                condition=Q(done__gte=0) & Q(done__lte=models.F("total")), name="punctual_campaign_progress"
            ),
        ]

    def __str__(self) -> str:
        return f"campaign {self.id}: {self.kind}"


class CampaignChunk(OurModel):
    """Some of the tasks of a campaign, in its order. Each chunk has CHUNK of them, only the last one fewer: the number
    of a task in the campaign says where it is."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="chunks"
    )
    number = models.IntegerField(help_text="From 0.")
    ids = ArrayField(models.BigIntegerField())
    jobs = ArrayField(
        models.BigIntegerField(), null=True, help_text="Of a backfill that makes instances, instead of ids: the jobs,"
    )
    fires = ArrayField(models.DateTimeField(), null=True, help_text="and for each of these the firing.")
    released = ArrayField(
        models.BigIntegerField(), db_default=[], help_text="Those that it released and that are not known to be over."
    )
    lanes = ArrayField(models.TextField(), db_default=[], help_text="For each of these, the lane that it came from.")
    waiting = models.IntegerField(db_default=0, help_text="How many these are.")
    measured_at = models.DateTimeField(null=True, help_text="When somebody last looked at them.")

    class Meta:
        db_table = "punctual_campaign_chunk"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["campaign", "number"], name="punctual_campaign_chunk_place")]
        indexes = [
            models.Index(
                fields=["campaign", "measured_at"], name="punctual_campaign_chunk_open", condition=Q(waiting__gt=0)
            )
        ]
