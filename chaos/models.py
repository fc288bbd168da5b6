"""Where transactional handlers leave their effects: one row each, so that two rows of a key are a doubled effect."""

from django.db import models


class ChaosEffect(models.Model):
    key = models.CharField(max_length=200)

    class Meta:
        db_table = "chaos_effect"
