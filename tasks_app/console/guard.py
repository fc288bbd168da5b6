"""What stands around every page of the console, so that the project needs no middleware or setting for it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import CsrfViewMiddleware
from django.template.response import SimpleTemplateResponse, TemplateResponse
from django.urls import NoReverseMatch, URLPattern, URLResolver, reverse_lazy
from django.utils.decorators import decorator_from_middleware
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.csrf import csrf_exempt

from tasks_app import scope
from tasks_app.core.shedding import Kind
from tasks_app.engine.web import people
from tasks_app.engine.web.door import DOOR, Refusal
from tasks_app.engine.web.standby import REFUSED, RETRY_SECONDS, STANDBY
from tasks_app.libraries.django import change_views
from tasks_app.lifecycle.audit import acting_from
from tasks_app.pages.language import speaking, told_by
from tasks_app.pages.links import console_url
from tasks_app.pages.typed import keep

from .live import is_look, measured, told_apart
from .needs import NEEDS
from .policy import headers
from .scope import member, refuse_closed_page, why_closed, working, working_in
from .templates import in_console

View = Callable[..., HttpResponse]
TOLD = {
    BadRequest: (400, gettext_lazy("Bad request")),
    DisallowedModelAdminLookup: (400, gettext_lazy("Bad request")),
    DisallowedModelAdminToField: (400, gettext_lazy("Bad request")),
    PermissionDenied: (403, gettext_lazy("You may not see or do this")),
    Http404: (404, gettext_lazy("There is nothing here")),
}
# Pages by the names of their addresses: the way in and out, and those that take load away, with the lists that lead
# there. Where the address names a verb, only these; None: all of them.
WAYS_IN = {"login", "logout", "jsi18n", "language"}
# About an account and its session, which belong to no tenant.
OWN_ACCOUNT = WAYS_IN | {"password_change", "password_change_done"}
LEVERS: dict[str, set[str] | None] = {
    "punctual_lane": None,
    "punctual_worker_order": None,
    "punctual_safeguard_changelist": None,
    "punctual_safeguard_order": None,
    "punctual_installation_changelist": None,
    "punctual_installation_order": None,
    "punctual_site_changelist": None,
    "punctual_site_activate": None,
    "punctual_site_standby": None,
    "punctual_campaign_changelist": None,
    "punctual_campaign_change": None,
    "punctual_campaign_order": {"pause", "pace", "cancel"},
    "punctual_job_order": {"pause"},
    "punctual_subscription_order": {"pause"},
    "punctual_host_add": None,
    "punctual_tenant_changelist": None,
    "punctual_tenant_show": None,
    "punctual_tenant_suspend": None,
}
NO_RIGHT = gettext_lazy("Your account lacks the permission for it. Whoever manages the accounts can grant it.")


class StaleForms(CsrfViewMiddleware):
    """Django's check. A form from before the last login is shown again as it was typed, with a token that counts."""

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        refused: HttpResponse | None = super().process_view(request, *view)
        if refused is not None and request.method == "POST" and keep(request):
            return HttpResponseRedirect(request.get_full_path())
        return refused


_protected = decorator_from_middleware(StaleForms)


def guard(site: AdminSite, patterns: list[URLPattern | URLResolver]) -> None:
    """Put it around every view of the site."""
    change_views(patterns, lambda view, _: _guarded(site, view))


def _guarded(site: AdminSite, view: View) -> View:
    protected = _protected(view)

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        request.current_app = site.name
        with speaking(request):
            refusal = _refusal(request)
            if refusal is not None:
                return _busy(request, refusal)
            # Whoever has rights everywhere sees all tenants; a member, the one they work in.
            with measured(request), DOOR.inside(), scope.request(), scope.all_tenants(), working(request):
                if (tenant := working_in()) is not None and request.resolver_match.url_name not in OWN_ACCOUNT:
                    scope.settle(tenant)
                response = admitted(request, *args, **kwargs)
                # What is shown depends on who works where, which is known until here; and what it takes is measured.
                known = member() is not None or is_look(request)
                late = known and isinstance(response, SimpleTemplateResponse)
                return response.render() if late else scope.carried(response)

    def admitted(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        before = people.acting.set(lambda: request.user.get_username())
        try:
            with acting_from(people.address_of(request)):
                refuse_closed_page(request)
                if request.method == "POST":
                    scope.act_as(request.user.get_username())
                response = protected(request, *args, **kwargs)
        except tuple(TOLD) as error:
            if not site.has_permission(request):
                raise
            response = _told(site, request, error)
        finally:
            people.acting.reset(before)
        if wait := getattr(request, "retry_after", None):
            response.status_code = 429
            response["Retry-After"] = str(wait)
        if request.method == "POST" and response.get("Location", "").startswith(f"{console_url('login')}?"):
            keep(request)
        for name, value in headers().items():
            response.headers.setdefault(name, value)
        told_by(request, response)
        told_apart(request, response)
        return in_console(response)

    # The token is checked inside, where what was typed can be kept.
    exempt = csrf_exempt(answered)
    # For a project whose LoginRequiredMiddleware asks before the site does.
    exempt.login_url = reverse_lazy("admin:login", current_app=site.name)
    guarded: View = exempt
    return guarded


def _refusal(request: HttpRequest) -> Refusal | None:
    if not STANDBY.reading and (found := DOOR.refusal(_kind_of(request))) is not None:
        return found  # without a new connection to a server that has too many
    STANDBY.connect()
    if not STANDBY.reading or request.method in ("GET", "HEAD"):
        return None
    return Refusal(REFUSED, RETRY_SECONDS)


def _kind_of(request: HttpRequest) -> Kind:
    name, verb = request.resolver_match.url_name, request.resolver_match.kwargs.get("verb")
    if name in WAYS_IN or (name in LEVERS and ((verbs := LEVERS[name]) is None or verb in verbs)):
        return Kind.NEVER
    return Kind.READ if request.method in ("GET", "HEAD") else Kind.WRITE


def _busy(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    """A page that needs neither user, session nor database; what was typed stays in the browser."""
    context = {
        "title": gettext("Read-only") if STANDBY.reading else gettext("Too busy"),
        "words": refusal.words,
        "again": request.get_full_path(),
    }
    response = SimpleTemplateResponse("tasks_app/busy.html", context, status=503).render()
    response["Retry-After"] = str(refusal.retry_after)
    for name, value in headers().items():
        response.headers.setdefault(name, value)
    return response


def _told(site: AdminSite, request: HttpRequest, error: Exception) -> HttpResponse:
    """What is wrong, in a sentence, where Django would show a page without words."""
    status, title = next(told for kind, told in TOLD.items() if isinstance(error, kind))
    words = why_closed(request) or NO_RIGHT if status == 403 else _words(error)
    context = site.each_context(request) | {"title": title, "words": words, "list": _list_of(request)}
    context["topics"] = ()  # it stays as it is: it must not say of itself that it has gone
    return TemplateResponse(request, "tasks_app/told.html", context, status=status)


def _list_of(request: HttpRequest) -> str:
    """The list that a page of one thing belongs to, if whoever asks may be led there; empty: none."""
    name = request.resolver_match.url_name or ""
    if not name.endswith("_change") or request.resolver_match.kwargs.get("object_id") is None:
        return ""
    listed = f"{name.removesuffix('_change')}_changelist"
    asked = member()
    if asked is not None and listed.startswith("punctual_") and NEEDS.get(listed) not in asked.rights:
        return ""
    try:
        return console_url(listed)
    except NoReverseMatch:
        return ""


def _words(error: Exception) -> str:
    first = error.args[0] if error.args else ""
    return first if isinstance(first, str) and first else gettext("The server can't make sense of this address.")
