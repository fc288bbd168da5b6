"""Whose rows a web request may see: the one place that opens a scope.

Inside `request()`, a statement on our connection without a scope is an error. With one, it runs in a transaction that
begins by becoming the scope's role and by naming its tenant; PostgreSQL's row-level security does the rest
(storage/isolation.py). Both end with the transaction, so nothing is left in a session that a pooler gives to somebody
else. Outside of a request (beats, workers, commands, a project's own views) nothing of this happens.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpResponseBase
from django.template.response import SimpleTemplateResponse
from psycopg import sql
from psycopg.pq import TransactionStatus

from tasks_app.libraries.django import errors_translated

from .core.errors import PunctualError
from .core.isolation import ACTOR, ALL_TENANTS, SETTING, WEB, Scope, tenant_scope
from .database import our_connection

_scope: ContextVar[Scope | None] = ContextVar("punctual_scope", default=None)
_actor: ContextVar[str] = ContextVar("punctual_actor", default="")

# Whether the database was given the roles, and lets this session become them.
_PROTECTED = f"""
SELECT c.relrowsecurity AND pg_has_role(session_user, r.oid, 'MEMBER')
FROM pg_class c CROSS JOIN pg_roles r WHERE c.oid = to_regclass('punctual_task') AND r.rolname = '{WEB}'
"""


class ScopeMissing(PunctualError):
    """A statement of a request that has not said whose rows it is about."""


@dataclass(slots=True)
class _Session:
    """What we know of a connection during one request."""

    link: psycopg.Connection
    protected: bool
    applied: tuple[Scope, str] | None = None  # in the transaction that is open: the scope, and who acts
    before: str | None = None  # the role in it before, if it was open when the request came; empty: it was not


@contextmanager
def request() -> Iterator[None]:
    """Around a request: none of its statements runs without a scope."""
    ours, before, actor = our_connection(), _scope.set(None), _actor.set("")
    _forget(ours)
    with ours.execute_wrapper(_run):
        try:
            yield
        finally:
            _scope.reset(before)
            _actor.reset(actor)
            _leave(ours)


@contextmanager
def all_tenants() -> Iterator[None]:
    """For what is not about one tenant: who calls, what operators see, and figures that tell nothing of anybody."""
    before = _scope.set(ALL_TENANTS)
    try:
        yield
    finally:
        _scope.reset(before)


def settle(tenant: str | None) -> None:
    """From now on, and until the request is over: the rows of this tenant; None: an operator, who sees all."""
    _scope.set(ALL_TENANTS if tenant is None else tenant_scope(tenant))


def act_as(name: str) -> None:
    """Tasks that are scheduled from here to the end of the request were asked for by this person or token."""
    _actor.set(name)


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """The same outside of a request, such as in a command: each transaction meanwhile begins by saying who acts."""
    ours, before = our_connection(), _actor.set(name)
    _forget(ours)
    with ours.execute_wrapper(_run_named):
        try:
            yield
        finally:
            _actor.reset(before)
            _leave_actor(ours)


def carried(response: HttpResponseBase) -> HttpResponseBase:
    """The answer, which may be rendered or streamed only when the request is over: with the scope that it has now."""
    scope = _scope.get()
    if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
        response.template_name = _Template(response.resolve_template(response.template_name), scope)
    elif response.streaming and not response.is_async:
        response.streaming_content = _pieces(response.streaming_content, scope)
    return response


class _Template:
    def __init__(self, template: Any, scope: Scope | None) -> None:
        self._template, self._scope = template, scope

    def render(self, *args: Any, **kwargs: Any) -> str:
        with _again(self._scope):
            text: str = self._template.render(*args, **kwargs)
            return text


def _pieces(content: Iterable[bytes], scope: Scope | None) -> Iterator[bytes]:
    """Each in whatever thread asks for it."""
    pieces = iter(content)
    while True:
        with _again(scope):
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece


@contextmanager
def _again(scope: Scope | None) -> Iterator[None]:
    with request():
        _scope.set(scope)
        yield


def _run(execute: Callable[..., Any], statement: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Django's way around each statement of a connection."""
    ours, scope = context["connection"], _scope.get()
    if scope is None:
        raise ScopeMissing(
            f"A request asked the database without a scope: {str(statement)[:100]!r}. "
            "Say first whose rows it is about: settle() or all_tenants() of tasks_app.scope."
        )
    session = _session(ours)
    status = session.link.info.transaction_status
    if not session.protected:
        _name_actor(ours, session, status)
        return execute(statement, params, many, context)
    wanted = scope, _actor.get()
    if status is TransactionStatus.IDLE:
        session.applied, session.before = None, ""
        if session.link.autocommit:
            return _in_transaction(ours, session, scope, lambda: execute(statement, params, many, context))
    if status in (TransactionStatus.IDLE, TransactionStatus.INTRANS) and session.applied != wanted:
        _apply(ours, session, scope, inside=status is TransactionStatus.INTRANS)
    try:
        return execute(statement, params, many, context)
    finally:
        if isinstance(statement, str) and statement.startswith("ROLLBACK TO"):
            session.applied = None  # the settings went back with it, maybe to those of another scope


def _run_named(execute: Callable[..., Any], statement: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    session = _session(context["connection"])
    _name_actor(context["connection"], session, session.link.info.transaction_status)
    return execute(statement, params, many, context)


def _in_transaction(ours: BaseDatabaseWrapper, session: _Session, scope: Scope, deed: Callable[[], Any]) -> Any:
    """A transaction of its own for a statement that has none: without one, there is nothing that settings end with."""
    with errors_translated(ours):
        session.link.execute(f"BEGIN; {_words(session, scope)}", prepare=False)
    try:
        result = deed()
    except BaseException:
        with suppress(psycopg.Error):
            session.link.execute("ROLLBACK", prepare=False)
        raise
    with errors_translated(ours):
        session.link.execute("COMMIT", prepare=False)
    return result


def _apply(ours: BaseDatabaseWrapper, session: _Session, scope: Scope, *, inside: bool) -> None:
    with errors_translated(ours):
        if inside and session.before is None:
            ((session.before,),) = session.link.execute("SELECT current_setting('role')", prepare=False)
        session.link.execute(_words(session, scope), prepare=False)
    session.applied = scope, _actor.get()


def _name_actor(ours: BaseDatabaseWrapper, session: _Session, status: TransactionStatus) -> None:
    """Without roles, only a transaction of a person or a token begins with a statement of ours: it names the actor."""
    if status is TransactionStatus.IDLE:
        session.applied = None
        if session.link.autocommit:
            return
    if _actor.get() and session.applied is None and status is not TransactionStatus.INERROR:
        with errors_translated(ours):
            session.link.execute(_actor_words(session), prepare=False)
        session.applied = ALL_TENANTS, _actor.get()


def _words(session: _Session, scope: Scope) -> str:
    tenant = sql.Literal(scope.tenant).as_string(session.link)
    return f"SET LOCAL ROLE {scope.role}; SET LOCAL {SETTING} = {tenant}; {_actor_words(session)}"


def _actor_words(session: _Session) -> str:
    return f"SET LOCAL {ACTOR} = {sql.Literal(_actor.get()).as_string(session.link)}"


def _session(ours: BaseDatabaseWrapper) -> _Session:
    known = getattr(ours, "_punctual_session", None)
    if known is None or known.link is not ours.connection:
        with errors_translated(ours):
            found = ours.connection.execute(_PROTECTED, prepare=False).fetchone()
        known = ours._punctual_session = _Session(ours.connection, bool(found and found[0]))
    return known


def _leave(ours: BaseDatabaseWrapper) -> None:
    """A transaction that was open before the request goes on with its own rights."""
    session = getattr(ours, "_punctual_session", None)
    if (
        session is not None
        and session.link is ours.connection
        and session.before
        and session.link.info.transaction_status is TransactionStatus.INTRANS
    ):
        role = sql.Identifier(session.before).as_string(session.link)
        session.link.execute(f"SET LOCAL ROLE {role}; SET LOCAL {SETTING} = ''", prepare=False)
    _leave_actor(ours)


def _leave_actor(ours: BaseDatabaseWrapper) -> None:
    """A transaction that was open before forgets who acts: what it schedules later was asked for by code."""
    session = getattr(ours, "_punctual_session", None)
    if (
        session is not None
        and session.link is ours.connection
        and session.applied is not None
        and session.link.info.transaction_status is TransactionStatus.INTRANS
    ):
        session.link.execute(f"SET LOCAL {ACTOR} = ''", prepare=False)
    _forget(ours)


def _forget(ours: BaseDatabaseWrapper) -> None:
    session = getattr(ours, "_punctual_session", None)
    if session is not None:
        session.applied = session.before = None
