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
from .libraries.django import (
    change_views,
    connection_settings,
    drop_if_unusable,
    end_pool,
    forget_connection,
    in_transaction,
)

T = TypeVar("T")


def alias() -> str:
    return conf().DATABASE


def our_connection() -> BaseDatabaseWrapper:
    """This thread's."""
    return connections[conf().DATABASE]


def our_settings() -> dict[str, Any]:
    """By which connections to our database are made, by all threads: a change is for those that are yet to come."""
    return connection_settings()[conf().DATABASE]


def names() -> dict[str, object]:
    """By alias, the database that it stands for now."""
    return {alias: options.get("NAME") for alias, options in connection_settings().items()}


def is_in_transaction() -> bool:
    """In an atomic block in our database, in this thread."""
    return in_transaction(our_connection())


def must_roll_back() -> bool:
    """In a transaction that can do nothing more."""
    return is_in_transaction() and transaction.get_rollback(conf().DATABASE)


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
    change_views(patterns, _with_own_transactions)
    return patterns


def _with_own_transactions(view: Callable[..., Any], _: str) -> Callable[..., Any]:
    if ismethod(view):  # which can't be marked
        view = wraps(view)(partial(view))
    for name in settings.DATABASES:
        transaction.non_atomic_requests(name)(view)
    return view


def close_connections() -> None:
    """All that this thread has, whatever database they lead to: apps' code was run in it. Not one in a transaction."""
    for one in connections.all(initialized_only=True):
        if not in_transaction(one):
            one.close()


def leave_other_databases() -> None:
    """Handlers have used them. As after a web request: one that is broken is dropped, one that is too old is closed."""
    for one in connections.all(initialized_only=True):
        if one.alias != conf().DATABASE:
            drop_if_unusable(one)


def tune_connections() -> None:
    """In a beat or worker, before its first statement: its connections to our database have what the engine needs.

    The settings that Django was given stay as they are; these processes go by a copy. Other databases, and processes
    that are not ours, keep to theirs.
    """
    close_connections()
    for one in connections.all(initialized_only=True):
        end_pool(one)  # its threads would be missing in a forked child
    given = our_settings()
    if connections[alias()].vendor != "postgresql":
        return  # a check says so, and so does the first statement
    pooled = given.get("DISABLE_SERVER_SIDE_CURSORS", False)  # Django's name for "behind a transaction pooler"
    environment, hosts = os.environ.get("PGOPTIONS", ""), given["HOST"]
    options = session.options_for_engine(given["OPTIONS"], environment, pooled=pooled, hosts=hosts)
    # Nothing here ends a request: with an age, a connection would be made anew for each task in a thread.
    connection_settings()[alias()] = given | {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True, "OPTIONS": options}
    forget_connection(alias())
