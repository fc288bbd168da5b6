"""In which tenant somebody works on the pages, and as what: the one place that pages, lists and forms ask.

People with Django's permissions on our pages work in all tenants, until they choose one that they are a member of. All
others work in one of theirs at a time. What belongs to another tenant does not exist for them.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeVar

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST

from tasks_app.core.errors import PunctualError
from tasks_app.core.roles import READING, USUAL_LANES, Role
from tasks_app.database import atomic
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.operations.members import everywhere, rights_of
from tasks_app.engine.operations.owners import own_of, refuse_not_own
from tasks_app.models import DlqEntry, JobDefinition, Tenant
from tasks_app.models.schedule_task import TaskFields
from tasks_app.pages.links import console_url

from .needs import NEEDS, OPEN

ROLE_WORDS = {
    Role.VIEWER: gettext_noop("viewer"),
    Role.AUTHOR: gettext_noop("author"),
    Role.OPERATOR: gettext_noop("operator"),
    Role.ADMIN: gettext_noop("administrator"),
}
CHOSEN = "punctual_tenant"  # in the session
OURS = "punctual_"  # how the names of our addresses begin
Changed = TypeVar("Changed", bound=JobDefinition | TaskFields | DlqEntry)

_member: ContextVar[Caller | None] = ContextVar("member", default=None)


class OfTenant(Protocol):
    """A row that belongs to a tenant, or to all of them."""

    @property
    def tenant(self) -> str | None: ...


Row = TypeVar("Row", bound=OfTenant)


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody works, and where else they could."""

    tenant: str | None  # None: in all
    role: Role | None
    tenants: tuple[str, ...]  # that they are a member of
    all_tenants: bool  # they have Django's permissions on our pages

    @property
    def role_words(self) -> str:
        return "" if self.role is None else gettext(ROLE_WORDS[self.role])


def member() -> Caller | None:
    """Who works in one tenant, in this thread; None: somebody who works in all of them."""
    return _member.get()


def working_in() -> str | None:
    """The tenant whose rows are to be seen; None: those of all."""
    asked = _member.get()
    return None if asked is None else asked.tenant


def place_of(request: HttpRequest) -> Place:
    """Looked up once for each request: a role that was taken away counts no more with the next one."""
    found = getattr(request, "_punctual_place", None)
    if found is None:
        found = request._punctual_place = _place(request)
    return found


@contextmanager
def working(request: HttpRequest) -> Iterator[None]:
    """What is done meanwhile, in this thread, is done in the tenant of whoever asks."""
    # One transaction: outside of one, each statement has its own, and says whose rows it is about. Somebody who is not
    # logged in needs none, and sees the form while the database is away, too.
    known = settings.SESSION_COOKIE_NAME in request.COOKIES
    with atomic(savepoint=False) if known else nullcontext():
        place = place_of(request)
        caller = _caller(request, place.tenant, place.role) if place.tenant and place.role else None
    before = _member.set(caller)
    try:
        yield
    finally:
        _member.reset(before)


def refuse_closed_page(request: HttpRequest) -> None:
    """PermissionDenied unless the page is open to a member's role. Pages of other apps ask for themselves."""
    asked, name = _member.get(), request.resolver_match.url_name or ""
    if asked is not None and name not in OPEN and name.startswith(OURS) and NEEDS.get(name) not in asked.rights:
        raise PermissionDenied


def why_closed(request: HttpRequest) -> str:
    """Why a member's role does not open the page; empty: it is not the role."""
    asked, role = _member.get(), place_of(request).role
    name = request.resolver_match.url_name or ""
    if asked is None or role is None or name in OPEN or not name.startswith(OURS):
        return ""
    need, where = NEEDS.get(name), {"tenant": asked.tenant}
    if need is None:
        return gettext(
            "This page is for those who run the installation; you work in tenant {tenant}, and it shows more than that."
        ).format(**where)
    if need not in role.rights:
        able = ", ".join(gettext(ROLE_WORDS[one]) for one in Role if need in one.rights)
        return gettext(
            "In tenant {tenant} this takes one of these roles: {roles}. Yours is {role}. An administrator of the "
            "tenant can give you another one."
        ).format(**where, roles=able, role=gettext(ROLE_WORDS[role]))
    if need not in asked.rights:
        return gettext("Tenant {tenant} is suspended: you may look at everything, and change nothing.").format(**where)
    return ""


def seen(row: Row | None) -> Row | None:
    """The row, unless it belongs to another tenant: then it is as good as none."""
    tenant = working_in()
    return row if row is None or tenant is None or row.tenant == tenant else None


def whose() -> dict[str, str]:
    """For a query: only those that are to be seen."""
    tenant = working_in()
    return {} if tenant is None else {"tenant": tenant}


def changeable(row: Changed) -> Changed:
    """The job, task or letter, if whoever works here may change it; the same rules as those of the API."""
    asked = _member.get()
    if asked is not None:
        try:
            asked.refuse_closed_type(row.task_type)
            if not isinstance(row, DlqEntry):  # which only those may change who may change everybody's
                asked.refuse_closed_lane(row.lane)
                refuse_not_own(asked, row)
        except PunctualError as error:
            raise PermissionDenied(str(error)) from None
    return row


def usable_kinds(kinds: Iterable[tuple[str, str]]) -> bool:
    """Whether whoever works here may have tasks of all these types run in these lanes."""
    asked = _member.get()
    if asked is None:
        return True
    types = set(asked.usable_types())
    return all(one in types and (asked.lanes is None or lane in asked.lanes) for one, lane in kinds)


def may_change(row: JobDefinition | TaskFields) -> bool:
    """Whether it is offered."""
    try:
        changeable(row)
    except PermissionDenied:
        return False
    return True


def may_change_each(rows: Sequence[JobDefinition | TaskFields]) -> set[int]:
    """The ids of those that may be changed, by a few statements."""
    asked = _member.get()
    if asked is None:
        return {row.id for row in rows}
    fit = [row for row in rows if usable_kinds([(row.task_type, row.lane)])]
    return own_of(asked.name, fit) if asked.owns_only else {row.id for row in fit}


def granter(request: HttpRequest) -> Caller:
    """Who hands out rights on a page: with those of their role, or with those that Django's permissions stand for."""
    return _member.get() or Caller(
        request.user.get_username(),
        "",
        everywhere(request.user),
        is_person=True,
        everywhere=True,
        user_key=str(request.user.pk),
    )


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Work in another tenant from now on; empty: in all of them again."""
    wanted, place = request.POST.get("tenant", ""), place_of(request)
    if wanted and wanted not in place.tenants:
        raise Http404(gettext("You are no member of such a tenant."))
    if wanted:
        request.session[CHOSEN] = wanted
    else:
        request.session.pop(CHOSEN, None)
    return HttpResponseRedirect(console_url("index"))


def _place(request: HttpRequest) -> Place:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return Place(None, None, (), all_tenants=False)
    everybody, chosen = user.has_module_perms("punctual"), request.session.get(CHOSEN)
    if everybody and getattr(user, "is_superuser", False) and chosen is None:
        return Place(None, None, (), all_tenants=True)
    roles = rights_of(user).roles
    tenants = tuple(sorted(roles))
    usual = None if everybody or not tenants else tenants[0]
    tenant = chosen if chosen in roles else usual
    return Place(tenant, roles.get(tenant) if tenant else None, tenants, everybody)


def _caller(request: HttpRequest, tenant: str, role: Role) -> Caller:
    row = Tenant.objects.filter(name=tenant).only("state", "reason").first()
    suspended = row.reason if row is not None and row.suspended else None
    return Caller(
        request.user.get_username(),
        tenant,
        role.rights if suspended is None else READING,
        lanes=USUAL_LANES,
        is_person=True,
        suspended=suspended,
        user_key=str(request.user.pk),
    )
