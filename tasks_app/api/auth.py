"""Who may call: the bearer of a token, or an operator who is logged in to the admin."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from ninja.errors import AuthenticationError
from ninja.security import APIKeyCookie, APIKeyQuery, HttpBearer

from tasks_app import scope
from tasks_app.core.away import Run
from tasks_app.core.errors import QuotaExceeded
from tasks_app.engine.addresses import is_signed
from tasks_app.engine.operations.api_tokens import Caller, known
from tasks_app.lifecycle.request import checked_name
from tasks_app.models.schedule_task import DEFAULT_TENANT, TENANT_LENGTH
from tasks_app.pages.links import login_url

from .edges import bound_body
from .limits import refuse_too_many_calls, unauthenticated
from .problems import Problem, problem_of, respond

# The API has both jobs and tasks, so an operator needs the rights to both.
VIEW = ("tasks_app.view_jobdefinition", "tasks_app.view_scheduletask")
OPERATE = ("tasks_app.operate_jobdefinition", "tasks_app.operate_scheduletask")
TENANT_HEADER = "X-Tenant"  # for operators only; a token has a tenant of its own
_READING = ("GET", "HEAD", "OPTIONS")


class Token(HttpBearer):
    def __init__(self, *, reports: bool = False, reads: bool = False) -> None:
        super().__init__()
        self._reports = reports  # about what runs, which a suspension of its tenant does not end
        self._reads = reads  # whatever its method

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        with scope.all_tenants():  # whose it is, it says itself
            found = known(token)
        if found is not None and self._reports:
            found = replace(found, suspended=None)
        return _admitted(request, found, reads=self._reads)


class Session(APIKeyCookie):
    """The admin's own pages; the CSRF token is checked, as everywhere in Django."""

    param_name = settings.SESSION_COOKIE_NAME

    def __init__(self, *, reads: bool = False) -> None:
        super().__init__()
        self._reads = reads

    def _get_key(self, request: HttpRequest) -> str | None:
        # Nobody is logged in: no session to protect, and the caller should hear of the token instead.
        with scope.all_tenants():
            if not getattr(request, "user", None) or not request.user.is_authenticated:
                return None
        return super()._get_key(request)

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        with scope.all_tenants():
            if key is None or not _may(request.user, VIEW):
                return None
            may_write = _may(request.user, OPERATE)
        tenant = checked_name(TENANT_HEADER, request.headers.get(TENANT_HEADER) or DEFAULT_TENANT, TENANT_LENGTH)
        asked = Caller(request.user.get_username(), tenant, may_write, is_person=True)
        return _admitted(request, asked, reads=self._reads)


class Signature(APIKeyQuery):
    """Whoever was given the address of a run: it may report about that run, and nothing else."""

    param_name = "signature"

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        about = key and _addressed(request)
        if not about or not is_signed(about, key):
            return None
        return _admitted(request, Addressee(f"address of task {about.task}", about.tenant, can_write=True))


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
    return request.auth


def refuse_without(request: HttpRequest, asked: Caller, right: str) -> None:
    """People need the right that the console asks for; tokens that concern all tenants are for that."""
    if asked.is_person and not request.user.has_perm(right):
        raise Problem("SCH_403_FORBIDDEN", f"your account lacks the permission {right}. An administrator can grant it.")


def for_readers(view: Callable) -> Callable:
    """The schema and its page: for whoever has a token, and for operators. Only a person is sent to the login page."""

    @wraps(view, assigned=())
    def answered(request: HttpRequest, *args, **kwargs) -> HttpResponse:
        person = getattr(request, "user", None)
        try:
            holder = Token()(request)
        except QuotaExceeded as error:
            return respond(problem_of(error))
        with scope.all_tenants():
            may_view, is_staff = _may(person, VIEW), getattr(person, "is_staff", False)
        if holder is not None or ("Authorization" not in request.headers and may_view):
            return view(request, *args, **kwargs)
        a_program = person is None or (request.path.endswith(".json") and not is_staff)
        if a_program or "Authorization" in request.headers:
            return unauthenticated(request, AuthenticationError())
        if is_staff:
            return respond(Problem("SCH_403_FORBIDDEN", "Your account lacks the permissions to see jobs and tasks."))
        return user_passes_test(lambda _: False, login_url())(view)(request)  # to the login

    return answered


def _may(person: object, rights: tuple[str, ...]) -> bool:
    """A user of a project's own need not have more than Django's admin asks of one, or not even that."""
    return getattr(person, "is_staff", False) and all(person.has_perm(one) for one in rights)


def _admitted(request: HttpRequest, asked: Caller | None, *, reads: bool = False) -> Caller | None:
    """Before anything of the body is read: whose rows is it about, may it be sent at all, and is it small enough?
    `reads`: it changes nothing, whatever its method."""
    if asked is None:
        return None
    scope.settle(None if asked.is_operator else asked.tenant)
    if asked.calls_per_minute is not None:
        refuse_too_many_calls(asked)
    if request.method in _READING:
        return asked
    if not asked.can_write and not reads:
        raise Problem("SCH_403_FORBIDDEN", "You may read but not write. Ask for a token, or the permissions, to write.")
    if asked.suspended is not None:
        words = (
            f"Tenant {asked.tenant!r} is suspended: {asked.suspended.rstrip('.')}. You may read, but change nothing."
        )
        raise Problem("SCH_403_TENANT_SUSPENDED", words)
    bound_body(request)
    return asked
