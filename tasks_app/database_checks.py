"""Django system checks: the database that PUNCTUAL["DATABASE"] names is one that the engine can work with."""

from collections.abc import Iterator, Sequence

from django.core import checks
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, router
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import IsolationLevel

from .conf import conf
from .core.errors import InvalidConfiguration
from .core.handlers import REGISTRY
from .models import ScheduleTask

OLDEST = 15  # of PostgreSQL, that we have tried
ROUTER = "django_punctual.router.Router"


def check_database(**_: object) -> list[checks.CheckMessage]:
    """What can be said without asking the server."""
    try:
        ours = connections[conf().DATABASE]
    except InvalidConfiguration:
        return []  # told by another check
    if ours.vendor != "postgresql":
        return [
            checks.Error(
                f"DATABASES[{ours.alias!r}] is {ours.display_name}; Punctual's tables and statements need PostgreSQL.",
                hint=f'Use "ENGINE": "django.db.backends.postgresql" there, or name another: {_NAME_IT}',
                id="punctual.E010",
            )
        ]
    return [*_routes(ours.alias), *_transactional(ours.alias), *_isolation(ours)]


_NAME_IT = 'PUNCTUAL = {"DATABASE": "<an alias in DATABASES>"}'


def _routes(alias: str) -> Iterator[checks.CheckMessage]:
    """Asked of Django and not looked up in DATABASE_ROUTERS: a project's own router may do the same."""
    hint = f'DATABASE_ROUTERS = ["{ROUTER}", …]: before those that speak for every app.'
    goes = router.db_for_write(ScheduleTask)
    if goes != alias:
        words = f'PUNCTUAL["DATABASE"] is {alias!r}, but DATABASE_ROUTERS send its models to {goes!r}.'
        yield checks.Error(words, hint=hint, id="punctual.E011")
    elif not router.allow_migrate_model(alias, ScheduleTask):
        words = f'DATABASE_ROUTERS keep Punctual\'s tables out of {alias!r}, where PUNCTUAL["DATABASE"] wants them.'
        yield checks.Error(words, hint=hint, id="punctual.E011")
    elif alias != DEFAULT_DB_ALIAS and router.allow_migrate_model(DEFAULT_DB_ALIAS, ScheduleTask):
        words = f'PUNCTUAL["DATABASE"] is {alias!r}, but `migrate` would make its tables in {DEFAULT_DB_ALIAS!r} too.'
        yield checks.Error(words, hint=hint, id="punctual.E011")


def _transactional(alias: str) -> Iterator[checks.CheckMessage]:
    names = [handler.name for handler in REGISTRY if handler.transactional or handler.apply is not None]
    if alias != DEFAULT_DB_ALIAS and names:
        yield checks.Warning(
            f"handlers whose effects are one transaction with their outcome: {', '.join(sorted(names))}. That "
            f'transaction is one of PUNCTUAL["DATABASE"], {alias!r}: what they write to other databases is not in it.',
            hint="If they write there only, silence this: SILENCED_SYSTEM_CHECKS = ['punctual.W010'].",
            id="punctual.W010",
        )


def _isolation(ours: BaseDatabaseWrapper) -> Iterator[checks.CheckMessage]:
    level = ours.settings_dict["OPTIONS"].get("isolation_level", IsolationLevel.READ_COMMITTED)
    if level > IsolationLevel.READ_COMMITTED:
        yield checks.Warning(
            f"DATABASES[{ours.alias!r}] has isolation_level {IsolationLevel(level).name}. Punctual's statements are "
            "written for READ_COMMITTED: under a stricter one, a statement that waited for another fails "
            "and is tried again.",
            hint='Give Punctual an alias of its own without it, in PUNCTUAL["DATABASE"].',
            id="punctual.W011",
        )


def check_server(databases: Sequence[str] | None = None, **_: object) -> list[checks.CheckMessage]:
    """What only the server can say: asked by `migrate`, and by `check --database`."""
    try:
        ours = connections[conf().DATABASE]
    except InvalidConfiguration:
        return []
    if ours.alias not in (databases or ()) or ours.vendor != "postgresql":
        return []
    try:
        with ours.temporary_connection():
            version = ours.pg_version
            unprotected = list(_isolation_of_tenants()) if version >= OLDEST * 10_000 else []
    except OperationalError:
        return []  # whoever asked is told anyway
    if version >= OLDEST * 10_000:
        return unprotected
    return [
        checks.Error(
            f"the server of DATABASES[{ours.alias!r}] is PostgreSQL {version // 10_000}.{version % 10_000}; Punctual "
            f"needs {OLDEST} or newer.",
            hint=f"Upgrade it, or name another database: {_NAME_IT}",
            id="punctual.E012",
        )
    ]


def _isolation_of_tenants() -> Iterator[checks.CheckMessage]:
    from .storage.isolation import finding

    found = finding()
    if found is not None:
        yield checks.Warning(found.words, hint=found.way_out, id="punctual.W012")
