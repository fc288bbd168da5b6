"""What every table has: it is in Punctual's database, whatever the routers of a project say.

And columns whose values may be encrypted: read, they are the word for it; written back, they are as they were.
"""

from typing import TYPE_CHECKING, Any

from django.contrib.postgres import fields
from django.core.checks import CheckMessage
from django.db import models

from tasks_app.conf import conf
from tasks_app.core.confidential import Encrypted, as_json, as_text


class OurManager(models.Manager):
    """A router that sends reads to a replica would have the engine read what it has just written too early."""

    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().using(conf().DATABASE)


class OurModel(models.Model):
    objects = OurManager()

    class Meta:
        abstract = True


class ArrayField(fields.ArrayField):
    """To the database, and to migrations, Django's. From Django 6.0 on that one asks for django.contrib.postgres in
    INSTALLED_APPS (postgres.E005), though that app registers nothing for arrays of plain types."""

    if TYPE_CHECKING:  # of a row, its value

        def __get__(self, row: Any, model: Any) -> Any: ...
        def __set__(self, row: Any, value: Any) -> None: ...

    def deconstruct(self) -> tuple[Any, ...]:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.contrib.postgres.fields.ArrayField", args, kwargs

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        return [one for one in super().check(**kwargs) if one.id != "postgres.E005"]


class ConfidentialJSON(models.JSONField):
    """To the database, and to migrations, a JSONField."""

    def deconstruct(self) -> tuple[Any, ...]:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    as_read = staticmethod(as_json)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return as_json(super().from_db_value(value, expression, connection))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        stored = value.as_json if isinstance(value, Encrypted) else value
        return super().get_db_prep_value(stored, connection, prepared)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        stored = value.as_json if isinstance(value, Encrypted) else value
        return super().get_db_prep_save(stored, connection)


class ConfidentialText(models.TextField):
    """To the database, and to migrations, a TextField."""

    def deconstruct(self) -> tuple[Any, ...]:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    as_read = staticmethod(as_text)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return as_text(value)

    def get_prep_value(self, value: Any) -> Any:
        return value.as_text if isinstance(value, Encrypted) else super().get_prep_value(value)
