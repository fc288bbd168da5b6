"""Django: connections, querysets, requests, addresses and the names of models. See also django_admin and
django_commands."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tasks_app.libraries import Uses

WORKS_WITH = ">=5.2,<6.2"

with Uses("Django", WORKS_WITH) as uses:
    from django.db import connections
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.backends.utils import CursorWrapper
    from django.db.models import Field, Model, QuerySet
    from django.db.models.options import Options
    from django.db.models.sql import Query
    from django.http import HttpRequest
    from django.urls import ResolverMatch, URLPattern, URLResolver, get_resolver
    from django.urls.resolvers import RoutePattern

    uses.of(
        BaseDatabaseWrapper,
        "_prepare_cursor",
        "wrap_database_errors",
        "close_if_health_check_failed",
        "close_if_unusable_or_obsolete",
    )
    uses.set_by(BaseDatabaseWrapper.__init__, "in_atomic_block", "closed_in_transaction", "run_on_commit")
    uses.of(type(connections), "settings", "__delitem__")
    uses.of(Query, "get_compiler")
    uses.set_by(QuerySet.__init__, "_db")
    uses.set_by(HttpRequest.body.fget, "_body")
    uses.set_by(URLPattern.__init__, "callback", "name")
    uses.of(URLResolver, "url_patterns", "app_dict", "namespace_dict")
    uses.set_by(URLResolver.__init__, "urlconf_name")
    uses.set_by(Options.__init__, "verbose_name", "verbose_name_plural")
    uses.set_by(Field.__init__, "verbose_name")


# Connections


def ready(connection: BaseDatabaseWrapper) -> None:
    """Connected and checked: what `connection.cursor()` begins with."""
    connection.close_if_health_check_failed()
    connection.ensure_connection()


def errors_translated(connection: BaseDatabaseWrapper) -> AbstractContextManager[None]:
    """The driver's errors become Django's."""
    found: AbstractContextManager[None] = connection.wrap_database_errors
    return found


def cursor_around(connection: BaseDatabaseWrapper, cursor: object) -> CursorWrapper:
    """A psycopg cursor of ours, with Django's query log and execute wrappers around it."""
    return connection._prepare_cursor(cursor)


def cursor_made(connection: BaseDatabaseWrapper, make: Callable[[Any], object]) -> CursorWrapper:
    """The same, for one that is made of psycopg's connection."""
    connection.ensure_connection()
    with errors_translated(connection):
        return cursor_around(connection, make(connection.connection))


def in_transaction(connection: BaseDatabaseWrapper) -> bool:
    """In an atomic block."""
    found: bool = connection.in_atomic_block
    return found


def was_closed_in_transaction(connection: BaseDatabaseWrapper) -> bool:
    found: bool = connection.closed_in_transaction
    return found


def runs_on_commit(connection: BaseDatabaseWrapper, call: Callable[[], object]) -> bool:
    """Whether it is to be called after this transaction. A rollback removes what was noted in it."""
    return any(call == noted for _, noted, _ in reversed(connection.run_on_commit))


def drop_if_unusable(connection: BaseDatabaseWrapper) -> None:
    """As after a web request: if it is broken or too old, it is closed."""
    connection.close_if_unusable_or_obsolete()


def end_pool(connection: BaseDatabaseWrapper) -> None:
    if connection.vendor == "postgresql":
        with Uses("Django", WORKS_WITH) as uses:
            uses.of(type(connection), "close_pool")
        connection.close_pool()


def forget_connection(alias: str) -> None:
    """This thread makes another one."""
    del connections[alias]


def connection_settings() -> dict[str, dict[str, Any]]:
    """By alias. A connection is made with what is in here then."""
    found: dict[str, dict[str, Any]] = connections.settings
    return found


# Querysets


def compiled(query: QuerySet, using: str) -> tuple[str, tuple[object, ...]]:
    """A statement and its parameters; one that can have no rows is a statement too."""
    found: tuple[str, tuple[object, ...]] = query.query.get_compiler(using, elide_empty=False).as_sql()
    return found


def database_asked(rows: QuerySet) -> str | None:
    """Which was named with `using()`."""
    found: str | None = rows._db
    return found


# Requests and addresses


def give_body(request: HttpRequest, body: bytes) -> None:
    """Read for Django, which takes a chunked body for an empty one."""
    request._body = body


def change_views(
    patterns: list[URLPattern | URLResolver], change: Callable[[Callable[..., Any], str], Callable[..., Any]]
) -> None:
    """Every view below these addresses; `change` gets it with the name of its address."""
    for one in patterns:
        if isinstance(one, URLResolver):
            change_views(one.url_patterns, change)
        else:
            one.callback = change(one.callback, one.name or "")


def is_included(*modules: str) -> bool:
    """Whether the project's addresses include those of one of these modules."""
    return _includes(get_resolver().url_patterns, modules)


def _includes(patterns: list[URLPattern | URLResolver], modules: tuple[str, ...]) -> bool:
    return any(
        getattr(one.urlconf_name, "__name__", None) in modules or _includes(one.url_patterns, modules)
        for one in patterns
        if isinstance(one, URLResolver)
    )


class UrlsOnRequest(URLResolver):
    """An include of a namespace whose module is imported when a request or a link first needs one of its addresses. To
    the rest of the URLconf it is one without patterns, in which the namespace lies.

    Not only web processes load a URLconf: `manage.py check` walks through it, and a command or a handler that makes a
    link of the project searches it.
    """

    def __init__(self, route: str, module: str, *, app_name: str, namespace: str) -> None:
        super().__init__(RoutePattern(route), [], namespace=namespace)
        self._real = URLResolver(RoutePattern(route), module, app_name=app_name, namespace=namespace)

    def resolve(self, path: str) -> ResolverMatch:
        return self._real.resolve(path)

    @property
    def namespace_dict(self) -> dict[str, Any]:
        return {self._real.namespace: ("", self._real)}

    @property
    def app_dict(self) -> dict[str, Any]:
        return {self._real.app_name: [self._real.namespace]}


def namespaces_of(app: str) -> list[str]:
    """Where an app is mounted in the project's addresses, the last one first."""
    found: list[str] = get_resolver().app_dict.get(app, [])
    return found


# Models


def rename(model: type[Model], translated: Callable[[Any], Any]) -> None:
    """The names that people read, of a model and its columns. Migrations are made of those that were given."""
    names = model._meta
    names.verbose_name, names.verbose_name_plural = (
        translated(names.verbose_name),
        translated(names.verbose_name_plural),
    )
    for field in names.fields:
        field.verbose_name = translated(field.verbose_name)
