"""Who may look and who may act. Asked on the server for every page and every form, whatever the page showed.

Somebody who works in one tenant is asked for the right of their role there, everybody else for Django's permission.
What no role opens is for those who have the permission, and work in all tenants.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.db.models.options import Options
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from tasks_app.console.needs import NEEDS
from tasks_app.console.scope import member, working_in
from tasks_app.core.roles import Right
from tasks_app.engine.web import people
from tasks_app.pages.saved import LISTS

View = Callable[..., HttpResponse]
VIEW = "punctual.view_scheduletask"
OPERATE = "punctual.operate_scheduletask"
DECRYPT = "punctual.decrypt_scheduletask"
VIEW_JOBS = "punctual.view_jobdefinition"
OPERATE_JOBS = "punctual.operate_jobdefinition"
VIEW_TOKENS = "punctual.view_apitoken"
OPERATE_TOKENS = "punctual.operate_apitoken"
VIEW_MEMBERS = "punctual.view_membership"
OPERATE_MEMBERS = "punctual.operate_membership"
VIEW_SUBSCRIPTIONS = "punctual.view_subscription"
OPERATE_SUBSCRIPTIONS = "punctual.operate_subscription"
VIEW_SECRETS = "punctual.view_secret"
OPERATE_SECRETS = "punctual.operate_secret"
VIEW_HOSTS = "punctual.view_host"
OPERATE_HOSTS = "punctual.operate_host"
VIEW_TENANTS = "punctual.view_tenant"
OPERATE_TENANTS = "punctual.operate_tenant"
VIEW_SAFEGUARDS = "punctual.view_safeguard"
OPERATE_SAFEGUARDS = "punctual.operate_safeguard"
VIEW_INSTALLATION = "punctual.view_installation"
OPERATE_INSTALLATION = "punctual.operate_installation"
VIEW_ALARMS = "punctual.view_alarmrule"
OPERATE_ALARMS = "punctual.operate_alarmrule"


def _may(request: HttpRequest, permission: str, right: Right | None = None) -> bool:
    """`right`: what somebody who works in one tenant needs there; None: they never may."""
    asked = member()
    return request.user.has_perm(permission) if asked is None else right in asked.rights


def hidden_verbs(request: HttpRequest) -> tuple[str, ...]:
    """What of the audit they may not know of: who logged in from where is for those who may see the users."""
    return () if working_in() is None and people.may_be_seen_by(request.user) else people.VERBS


def may_view(request: HttpRequest) -> bool:
    return _may(request, VIEW, Right.READ)


def may_view_platform(request: HttpRequest) -> bool:
    """What is of no tenant: the overview, batches, the fleet."""
    return _may(request, VIEW)


def may_operate(request: HttpRequest) -> bool:
    return may_view(request) and _may(request, OPERATE, Right.OPERATE)


def may_operate_platform(request: HttpRequest) -> bool:
    return may_view_platform(request) and _may(request, OPERATE)


def may_order(request: HttpRequest) -> bool:
    """Something about some task: which ones, each order asks."""
    return may_view(request) and _may(request, OPERATE, Right.SCHEDULE)


def may_decrypt(request: HttpRequest) -> bool:
    return may_view_platform(request) and _may(request, DECRYPT)


def may_view_jobs(request: HttpRequest) -> bool:
    return _may(request, VIEW_JOBS, Right.READ)


def may_view_forecast(request: HttpRequest) -> bool:
    """Of what all tenants fire together."""
    return _may(request, VIEW_JOBS)


def may_operate_jobs(request: HttpRequest) -> bool:
    return may_view_jobs(request) and _may(request, OPERATE_JOBS, Right.OPERATE)


def may_make_jobs(request: HttpRequest) -> bool:
    """And change some: which ones, each page asks."""
    return may_view_jobs(request) and _may(request, OPERATE_JOBS, Right.SCHEDULE)


def may_view_lists(request: HttpRequest) -> bool:
    """One of those whose filters can be saved; each asks for itself."""
    return any(one.allowed(request) for one in LISTS.values())


def may_read_api(request: HttpRequest) -> bool:
    """The API has both jobs and tasks, so a page that reads it needs the rights to both."""
    return may_view_platform(request) and may_view_forecast(request)


def may_create_over_api(request: HttpRequest) -> bool:
    """And to create a job with it, one needs to operate both."""
    return may_read_api(request) and may_operate_platform(request) and may_operate_jobs(request)


def may_view_tokens(request: HttpRequest) -> bool:
    return _may(request, VIEW_TOKENS, Right.ADMINISTER)


def may_operate_tokens(request: HttpRequest) -> bool:
    return may_view_tokens(request) and _may(request, OPERATE_TOKENS, Right.ADMINISTER)


def may_view_members(request: HttpRequest) -> bool:
    return _may(request, VIEW_MEMBERS, Right.ADMINISTER)


def may_operate_members(request: HttpRequest) -> bool:
    return may_view_members(request) and _may(request, OPERATE_MEMBERS, Right.ADMINISTER)


def may_view_subscriptions(request: HttpRequest) -> bool:
    return _may(request, VIEW_SUBSCRIPTIONS, Right.READ)


def may_operate_subscriptions(request: HttpRequest) -> bool:
    return may_view_subscriptions(request) and _may(request, OPERATE_SUBSCRIPTIONS, Right.OPERATE)


def may_view_secrets(request: HttpRequest) -> bool:
    """And callbacks, which they are for, are open to the tenant."""
    asked = member()
    return _may(request, VIEW_SECRETS, Right.READ) and (asked is None or asked.may_keep_secrets)


def may_operate_secrets(request: HttpRequest) -> bool:
    return may_view_secrets(request) and _may(request, OPERATE_SECRETS, Right.OPERATE)


def may_view_hosts(request: HttpRequest) -> bool:
    return _may(request, VIEW_HOSTS)


def may_operate_hosts(request: HttpRequest) -> bool:
    return may_view_hosts(request) and _may(request, OPERATE_HOSTS)


def may_view_tenants(request: HttpRequest) -> bool:
    return _may(request, VIEW_TENANTS)


def may_operate_tenants(request: HttpRequest) -> bool:
    return may_view_tenants(request) and _may(request, OPERATE_TENANTS)


def may_view_safeguards(request: HttpRequest) -> bool:
    return _may(request, VIEW_SAFEGUARDS)


def may_operate_safeguards(request: HttpRequest) -> bool:
    return may_view_safeguards(request) and _may(request, OPERATE_SAFEGUARDS)


def may_view_installation(request: HttpRequest) -> bool:
    return _may(request, VIEW_INSTALLATION)


def may_operate_installation(request: HttpRequest) -> bool:
    return may_view_installation(request) and _may(request, OPERATE_INSTALLATION)


def may_view_alarms(request: HttpRequest) -> bool:
    return _may(request, VIEW_ALARMS, Right.READ)


def may_operate_alarms(request: HttpRequest) -> bool:
    return may_view_alarms(request) and _may(request, OPERATE_ALARMS, Right.OPERATE)


def requires(
    allowed: Callable[[HttpRequest], bool], methods: tuple[str, ...] = ("GET", "HEAD", "POST")
) -> Callable[[View], View]:
    """Refuses the request unless `allowed(request)`, and other methods; for methods of a ModelAdmin."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(self: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not allowed(request):
                raise PermissionDenied
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            return view(self, request, *args, **kwargs)

        return guarded

    return decorate


class LookOnly:
    """For ModelAdmins: rows are written by the scheduler alone, and one right opens all of its pages."""

    opts: Options

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Somebody who works in one tenant is not shown the way to a page that no role opens."""
        return may_view(request) and (member() is None or f"punctual_{self.opts.model_name}_changelist" in NEEDS)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """No page of ours is a form of Django's. unfold's version would change the forms of the whole process."""
        raise PermissionDenied
