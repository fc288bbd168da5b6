"""Which database is Punctual's, PUNCTUAL["DATABASE"]: the one place that connections and transactions are asked of."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial, wraps
from inspect import ismethod
from typing import Any, TypeVar

from django.conf import settings
from django.db import IntegrityError, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import UniqueViolation

from .conf import conf
from .core import session

T = TypeVar("T")


def alias() -> str:
    return conf().DATABASE


def our_connection() -> BaseDatabaseWrapper:
    """This thread's."""
    return connections[conf().DATABASE]


def our_settings() -> dict[str, Any]:
    """By which connections to our database are made, by all threads: a change is for those that are yet to come."""
    found: dict[str, Any] = connections.settings[conf().DATABASE]
    return found


def names() -> dict[str, object]:
    """By alias, the database that it stands for now."""
    return {alias: options.get("NAME") for alias, options in connections.settings.items()}


def atomic(*, savepoint: bool = True) -> AbstractContextManager[None]:
    block: AbstractContextManager[None] = transaction.atomic(conf().DATABASE, savepoint)
    return block


def unless_taken(insert: Callable[[], T]) -> T | None:
    """What `insert` returns; None, and nothing is written, if a row is in its way."""
    try:
        with atomic():
            return insert()
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        return None


def on_commit(call: Callable[[], object]) -> None:
    """After the commit of the caller's transaction in our database; now, if there is none."""
    transaction.on_commit(call, using=conf().DATABASE, robust=True)


def own_transactions(patterns: list[Any]) -> list[Any]:
    """Addresses whose views begin and end their transactions themselves, many of them in one request: a project's
    ATOMIC_REQUESTS puts none around them. Returns them."""
    for one in patterns:
        if hasattr(one, "url_patterns"):
            own_transactions(one.url_patterns)
        else:
            view = one.callback
            if ismethod(view):  # which can't be marked
                one.callback = wraps(view)(partial(view))
            for name in settings.DATABASES:
                transaction.non_atomic_requests(name)(one.callback)
    return patterns


def close_connections() -> None:
    """All that this thread has, whatever database they lead to: apps' code was run in it. Not one in a transaction."""
    for one in connections.all(initialized_only=True):
        if not one.in_atomic_block:
            one.close()


def leave_other_databases() -> None:
    """Handlers have used them. As after a web request: one that is broken is dropped, one that is too old is closed."""
    for one in connections.all(initialized_only=True):
        if one.alias != conf().DATABASE:
            one.close_if_unusable_or_obsolete()


def tune_connections() -> None:
    """In a beat or worker, before its first statement: its connections to our database have what the engine needs.

    The settings that Django was given stay as they are; these processes go by a copy. Other databases, and processes
    that are not ours, keep to theirs.
    """
    close_connections()
    for one in connections.all(initialized_only=True):
        if hasattr(one, "close_pool"):
            one.close_pool()  # its threads would be missing in a forked child
    given = connections.settings[alias()]
    if connections[alias()].vendor != "postgresql":
        return  # a check says so, and so does the first statement
    pooled = given.get("DISABLE_SERVER_SIDE_CURSORS", False)  # Django's name for "behind a transaction pooler"
    environment, hosts = os.environ.get("PGOPTIONS", ""), given["HOST"]
    options = session.options_for_engine(given["OPTIONS"], environment, pooled=pooled, hosts=hosts)
    # Nothing here ends a request: with an age, a connection would be made anew for each task in a thread.
    connections.settings[alias()] = given | {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}
    del connections[alias()]
