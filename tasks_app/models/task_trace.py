"""The trace that a task belongs to, for the few that are traced; gone when they are over."""

from django.db import models

from .base import OurModel


class TaskTrace(OurModel):
    task = models.BigIntegerField(primary_key=True)
    traceparent = models.CharField(
        max_length=55,
        db_collation="C",
        help_text="The span that its runs come under, as W3C Trace Context has it.",
    )
    tracestate = models.TextField(null=True, help_text="What came with it.")
    last_run = models.CharField(
        max_length=55, db_collation="C", null=True, help_text="The span of the try before, if there was one."
    )

    class Meta:
        db_table = "punctual_trace"
        default_permissions = ()

    def __str__(self) -> str:
        return f"task {self.task}: {self.traceparent}"
