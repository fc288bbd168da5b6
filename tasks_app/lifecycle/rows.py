"""Rows of Django models in keys and payloads: stored by their primary key, fetched when the handler runs."""

from typing import Any, Protocol

from django.core.exceptions import ValidationError
from django.db.models import CharField, Field, IntegerField, Model, UUIDField

from tasks_app.core.errors import InvalidTask, Skip, shown
from tasks_app.core.payloads import Kind, Schema, Unfit, Unstorable, add_kind

ROW_GONE = "ROW_GONE"


class Row(Protocol):
    """A saved instance of a model, for a type checker that knows no Django."""

    @property
    def pk(self) -> Any: ...


def row_key(row: Model) -> str:
    """The same for a row wherever it was loaded: app, model and primary key."""
    if row.pk is None:
        raise InvalidTask(f"key={shown(row)} has no primary key yet, so it can't be found again. Save it first.")
    return _spelled(type(row), row.pk)


def _spelled(model: type[Model], pk: object) -> str:
    return f"{model._meta.concrete_model._meta.label_lower}:{pk}"


def _row_kind(cls: Any) -> Kind | None:
    if not issubclass(cls, Model):
        return None
    if cls._meta.abstract:
        raise Unstorable(f"{cls.__qualname__} is abstract, so it has no rows. Name a model that has")
    field = cls._meta.pk
    if not field.concrete:
        raise Unstorable(f"{cls.__qualname__} has a primary key of several columns. Take each of them by itself")

    def pk_of(value: Any) -> Any:
        try:
            pk = field.to_python(value)
        except (ValidationError, TypeError, ValueError):
            pk = None
        if pk is None or isinstance(value, bool):
            raise Unfit(f"must be an instance of {cls.__qualname__}, or its primary key", value)
        return pk

    def dump(value: Any) -> Any:
        if isinstance(value, Model):
            if not isinstance(value, cls):
                raise Unfit(f"must be an instance of {cls.__qualname__}", value)
            if value.pk is None:
                raise Unfit("has no primary key yet, so it can't be fetched again. Save it first", value)
            value = value.pk
        pk = pk_of(value)
        return pk if isinstance(pk, str | int) else str(pk)

    def load(value: Any) -> Any:
        pk = pk_of(value)
        row = cls._default_manager.filter(pk=pk).first()
        if row is None:
            raise Skip(f"{cls._meta.label} {pk} is no longer there", code=ROW_GONE)
        return row

    says = {"description": f"Primary key of a {cls._meta.label}"}
    return Kind(
        dump,
        load,
        frozenset({"row", "int", "string"}),  # a row looks like its primary key, and is no key of a dict
        lambda _: _pk_schema(field) | says,
        key_of=lambda pk: _spelled(cls, pk),
        fetches=True,
    )


def _pk_schema(field: Field) -> Schema:
    while field.remote_field is not None:  # of a model that extends another one's table
        field = field.target_field
    if isinstance(field, IntegerField):
        return {"type": "integer"}
    if isinstance(field, UUIDField):
        return {"type": "string", "format": "uuid"}
    return {"type": "string"} if isinstance(field, CharField) else {"type": ["string", "integer"]}


add_kind(_row_kind)
