"""A project's own rows, in its own database."""

from django.db import models


class Order(models.Model):
    name = models.CharField(max_length=100, unique=True)
    seen = models.JSONField(default=dict)
