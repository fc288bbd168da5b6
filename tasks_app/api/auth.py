"""Who may call: the bearer of a token, or somebody who is logged in to the console and has rights in the tenant."""

from dataclasses import replace
from functools import wraps
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from ninja.errors import AuthenticationError
from ninja.security import APIKeyCookie, APIKeyQuery, HttpBearer

from tasks_app import scope
from tasks_app.core.away import Run
from tasks_app.core.errors import QuotaExceeded
from tasks_app.core.roles import USUAL_LANES, WRITING, Right
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH
from tasks_app.engine.addresses import is_signed
from tasks_app.engine.operations.api_tokens import known
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.operations.members import rights_of
from tasks_app.lifecycle.request import checked_name
from tasks_app.models import Tenant
from tasks_app.pages.links import login_url

from .edges import View, bound_body, view_of
from .limits import refuse_too_many_calls, unauthenticated
from .needs import needed
from .problems import Problem, problem_of, respond

TENANT_HEADER = "X-Tenant"  # for people only; a token has a tenant of its own
_READING = ("GET", "HEAD", "OPTIONS")


class Token(HttpBearer):
    def __init__(self, *, reports: bool = False) -> None:
        super().__init__()
        self._reports = reports  # about what runs, which a suspension of its tenant does not end

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        with scope.all_tenants():  # whose it is, it says itself
            found = known(token)
        if found is not None and self._reports:
            found = replace(found, suspended=None)
        return _admitted(request, found)


class Session(APIKeyCookie):
    """The admin's own pages; the CSRF token is checked, as everywhere in Django."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Caller | None:
        # Without a login there is no session to protect: the error is about the token, and not about CSRF.
        with scope.all_tenants():
            if not getattr(request, "user", None) or not request.user.is_authenticated:
                return None
        asked: Caller | None = super().__call__(request)
        return asked

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        if key is None:
            return None
        with scope.all_tenants():  # where they may do what, their memberships say
            asked = _person(request)
        return _admitted(request, asked)


class Signature(APIKeyQuery):
    """Whoever was given the address of a run: it may report about that run, and nothing else."""

    param_name = "signature"

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        about = _addressed(request) if key else None
        if not key or about is None or not is_signed(about, key):
            return None
        return _admitted(request, Addressee(f"address of task {about.task}", about.tenant, WRITING))


class Addressee(Caller):
    """The caller of a signed address, whatever is open to tokens."""


def _addressed(request: HttpRequest) -> Run | None:
    """The run that the address is about; None if that can't be read."""
    given, token = request.GET, request.resolver_match.kwargs.get("token")
    try:
        return Run(given["tenant"], UUID(str(token)), int(given["task"]), UUID(given["run"]))
    except (KeyError, ValueError):
        return None


def caller(request: HttpRequest) -> Caller:
    asked: Caller = request.auth
    return asked


def refuse_without(request: HttpRequest, asked: Caller, right: str) -> None:
    """People need the right that the console asks for; tokens that concern all tenants are for that."""
    request.punctual_permissions = [*permissions_asked(request), right]
    if asked.everywhere and not request.user.has_perm(right):
        raise Problem("SCH_403_FORBIDDEN", f"your account lacks the permission {right}. An administrator can grant it.")


def permissions_asked(request: HttpRequest) -> list[str]:
    """What `refuse_without` has asked for so far."""
    return getattr(request, "punctual_permissions", [])


def for_readers(view: View) -> View:
    """The schema and its page: for whoever has a token, and for operators. Only a person is sent to the login page."""

    @wraps(view, assigned=())
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        person = getattr(request, "user", None)
        try:
            holder = Token()(request)
        except QuotaExceeded as error:
            return respond(problem_of(error))
        with scope.all_tenants():
            may_view, is_staff = rights_of(person).tenants != frozenset(), getattr(person, "is_staff", False)
        if holder is not None or ("Authorization" not in request.headers and may_view):
            return view(request, *args, **kwargs)
        a_program = person is None or (request.path.endswith(".json") and not is_staff)
        if a_program or "Authorization" in request.headers:
            return unauthenticated(request, AuthenticationError())
        if is_staff:
            return respond(Problem("SCH_403_FORBIDDEN", "Your account lacks the permissions to see jobs and tasks."))
        return user_passes_test(lambda _: False, login_url())(view)(request)  # to the login

    return answered


def _person(request: HttpRequest) -> Caller | None:
    """In the tenant that they name, or in their only one. None if they have no rights there, whether there is such a
    tenant or not."""
    user, rights = request.user, rights_of(request.user)
    given = request.headers.get(TENANT_HEADER)
    only = next(iter(rights.roles), DEFAULT_TENANT) if rights.tenants and len(rights.roles) == 1 else DEFAULT_TENANT
    tenant = checked_name(TENANT_HEADER, given or only, TENANT_LENGTH)
    role = rights.roles.get(tenant)
    key = str(user.pk)
    if rights.everywhere and (role is None or role.rights <= rights.everywhere):
        return Caller(user.get_username(), tenant, rights.everywhere, everywhere=True, is_person=True, user_key=key)
    if role is None:
        return None
    row = Tenant.objects.filter(name=tenant).only("state", "reason", "calls_per_minute").first()
    return Caller(
        user.get_username(),
        tenant,
        role.rights,
        lanes=USUAL_LANES,
        suspended=row.reason if row is not None and row.suspended else None,
        calls_per_minute=row and row.calls_per_minute,
        is_person=True,
        user_key=key,
    )


def _admitted(request: HttpRequest, asked: Caller | None) -> Caller | None:
    """Before anything of the body is read: whose rows is it about, may it be sent at all, and is it small enough?"""
    if asked is None:
        return None
    scope.settle(None if asked.is_operator else asked.tenant)
    scope.act_as(asked.name)
    if asked.calls_per_minute is not None:
        refuse_too_many_calls(asked, asked.calls_per_minute)
    reads = request.method in _READING
    need = needed(view_of(request), reads=reads)
    if need not in asked.rights:
        raise Problem("SCH_403_FORBIDDEN", _lacking(need, asked))
    if reads:
        return asked
    if asked.suspended is not None:
        words = (
            f"Tenant {asked.tenant!r} is suspended: {asked.suspended.rstrip('.')}. You may read, but change nothing."
        )
        raise Problem("SCH_403_TENANT_SUSPENDED", words)
    bound_body(request)
    return asked


def _lacking(need: Right, asked: Caller) -> str:
    if need is not Right.ADMINISTER and not asked.can_write:
        return "You may read but not write. Ask for a token, or the permissions, to write."
    has = ", ".join(right for right in Right if right in asked.rights)
    return f"This needs the right to {need}, and you may {has}. An administrator of the tenant can grant it."
