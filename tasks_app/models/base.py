"""What every table has: it is in Punctual's database, whatever the routers of a project say."""

from django.db import models

from tasks_app.conf import conf


class OurManager(models.Manager):
    """A router that sends reads to a replica would have the engine read what it has just written too early."""

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().using(conf().DATABASE)


class OurModel(models.Model):
    objects = OurManager()

    class Meta:
        abstract = True
