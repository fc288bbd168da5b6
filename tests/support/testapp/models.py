"""Where the test handlers leave their effects."""

from django.db import models


class Effect(models.Model):
    """One row per effect that took place; a second one for the same task is a doubled effect."""

    task_id = models.BigIntegerField()
    key = models.CharField(max_length=200)
    attempt = models.IntegerField()
    token = models.UUIDField()
    at = models.DateTimeField(auto_now_add=True)


class Counter(models.Model):
    """A business row that handlers and edits fight over."""

    name = models.CharField(max_length=200, unique=True)
    value = models.IntegerField(default=0)
