"""The pages of subscriptions: who is told of which events, how that goes, and what can be done about it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django import forms
from django.contrib import admin, messages
from django.db import OperationalError
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from unfold.admin import ModelAdmin

from tasks_app.console.scope import member, whose, working_in
from tasks_app.console.site import console
from tasks_app.core.errors import NotThere, PunctualError
from tasks_app.engine.operations import subscriptions
from tasks_app.engine.operations.jobs import Done, once
from tasks_app.engine.watch.relay_status import read_relay
from tasks_app.lifecycle import subscriptions as lifecycle
from tasks_app.lifecycle.audit import Operator
from tasks_app.models import AuditEntry, Delivery, Subscription
from tasks_app.pages.links import console_url
from tasks_app.pages.lists import refuse_unknown
from tasks_app.pages.spans import milliseconds
from tasks_app.pages.typed import take_back

from .rights import LookOnly, may_operate_subscriptions, may_view, may_view_subscriptions, requires
from .subscription_forms import SubscriptionForm, SubscriptionOrderForm

LIST, ONE = "punctual_subscription_changelist", "punctual_subscription_change"
HISTORY = 50


class Verb(NamedTuple):
    """An order: its button, what it will do, what it did, and what a time is asked for."""

    button: str
    will: str
    did: str
    since: str = ""
    since_needed: bool = False
    event: bool = False  # it is about the next event


VERBS = {
    "pause": Verb(
        gettext_lazy("Pause"),
        gettext_lazy("Nothing is delivered until you resume it. Events wait for it, as long as they are kept."),
        gettext_lazy("{subscription} is paused."),
    ),
    "resume": Verb(
        gettext_lazy("Resume"),
        gettext_lazy(
            "It goes on from where it stopped, or from a time: before that time nothing more is delivered, and what "
            "was delivered after it comes again."
        ),
        gettext_lazy("{subscription} is active again."),
        gettext_lazy("From this time on; empty: from where it stopped"),
    ),
    "replay": Verb(
        gettext_lazy("Deliver again"),
        gettext_lazy("Everything since then is delivered once more, with the ids it had; then it goes on as before."),
        gettext_lazy("{subscription} goes back to that time."),
        gettext_lazy("Since"),
        True,
    ),
    "skip": Verb(
        gettext_lazy("Skip one event"),
        gettext_lazy(
            "The next event is left out: its receiver never gets it. Everything behind it is delivered, and what was "
            "delivered while it could not be may come again, with the id it had."
        ),
        gettext_lazy("{subscription} goes on behind that event."),
        event=True,
    ),
    "secret": Verb(
        gettext_lazy("New secret"),
        gettext_lazy(
            "Each webhook is signed with the new secret and with the old ones. Withdraw those when the receiver has it."
        ),
        gettext_lazy("{subscription} has a new secret."),
    ),
    "withdraw": Verb(
        gettext_lazy("Withdraw old secrets"),
        gettext_lazy("Only the newest secret signs from now on. A receiver that doesn't have it refuses everything."),
        gettext_lazy("{subscription} is signed with the newest secret alone."),
    ),
    "delete": Verb(
        gettext_lazy("Delete"),
        gettext_lazy("Nothing more is delivered, and its secrets and deliveries are forgotten."),
        gettext_lazy("{subscription} is deleted."),
    ),
}


@admin.register(Subscription, site=console())
class SubscriptionAdmin(LookOnly, ModelAdmin):
    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_view_subscriptions(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_view_subscriptions(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate_subscriptions(request)

    def get_urls(self) -> list[URLPattern]:
        pages = [
            ("<int:subscription_id>/edit/", self.edit_view, "edit"),
            ("<int:subscription_id>/test/", self.test_view, "test"),
            ("<int:subscription_id>/order/<slug:verb>/", self.order_view, "order"),
        ]
        own = [
            path(where, self.admin_site.admin_view(view), name=f"punctual_subscription_{name}")
            for where, view, name in pages
        ]
        return [*own, *super().get_urls()]

    @requires(may_view_subscriptions)
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        refuse_unknown(request)
        context = self.page(request) | {"relay": read_relay(working_in())}
        return TemplateResponse(request, "tasks_app/subscriptions.html", context)

    @requires(may_view_subscriptions)
    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = _row(object_id)
        context = self.page(request) | {"title": str(row), "original": row, "subscription": row}
        context["lag"] = next((one for one in read_relay(working_in()).subscriptions if one.id == row.id), None)
        context["not_kept"] = [(pattern, ", ".join(events)) for pattern, events in subscriptions.not_kept(row)]
        context["beat"] = row.holder_name if member() is None else ""
        context["deliveries"] = Delivery.objects.filter(subscription_id=row.id).order_by("-id")[:HISTORY]
        about = AuditEntry.objects.filter(subject=f"subscription {row}", **whose())
        context["entries"] = about.order_by("-id")[:HISTORY]
        context["verbs"] = [(verb, VERBS[verb]) for verb in _offered(row)]
        context["stuck"] = subscriptions.next_event(row) if _fails(row) else None
        context["may_view"] = may_view(request)
        return TemplateResponse(request, "tasks_app/subscription.html", context)

    @requires(may_operate_subscriptions)
    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._form_page(request, None)

    @requires(may_operate_subscriptions)
    def edit_view(self, request: HttpRequest, subscription_id: int) -> HttpResponse:
        return self._form_page(request, _row(subscription_id))

    @requires(may_operate_subscriptions, ("POST",))
    def test_view(self, request: HttpRequest, subscription_id: int) -> HttpResponse:
        row = _row(subscription_id)
        said = subscriptions.send_test(row.id, Operator(request.user.get_username(), "a test event"))
        if said.ok:
            messages.success(
                request,
                gettext("The test event was delivered in {ms}: {status}.").format(
                    ms=milliseconds(said.ms), status=said.status
                ),
            )
        else:
            messages.warning(
                request,
                gettext("The test event was not delivered: {status}. {answer}").format(
                    status=said.status, answer=said.answer
                ),
            )
        return HttpResponseRedirect(console_url(ONE, row.id))

    @requires(may_operate_subscriptions)
    def order_view(self, request: HttpRequest, subscription_id: int, verb: str) -> HttpResponse:
        if verb not in VERBS:
            raise Http404(gettext("There is no action {verb!r} here.").format(verb=verb[:20]))
        row, order = _row(subscription_id), VERBS[verb]
        waiting = subscriptions.next_event(row) if order.event else None
        form = SubscriptionOrderForm(
            request.POST or None,
            since=order.since,
            since_needed=order.since_needed,
            event=(waiting.event.id if waiting else "") if order.event else None,
        )
        status = 200
        if request.method == "POST":
            status = 400
            if form.is_valid() and (
                done := _carried_out(form, lambda by: _act(verb, row, form.cleaned_data, by), request)
            ):
                if isinstance(done, str):
                    return self._secret_page(request, row, done)
                messages.success(request, order.did.format(subscription=row))
                return HttpResponseRedirect(console_url(LIST) if verb == "delete" else console_url(ONE, row.id))
        context = self.page(request) | {"title": f"{order.button}: {row}", "subscription": row, "form": form}
        context |= {"order": order, "danger": verb in ("delete", "withdraw", "skip"), "stuck": waiting}
        return TemplateResponse(request, "tasks_app/subscription_order.html", context, status=status)

    def _form_page(self, request: HttpRequest, row: Subscription | None) -> HttpResponse:
        form = SubscriptionForm(request.POST or take_back(request), subscription=row)
        status = 200
        if request.method == "POST":
            status = 400
            if form.is_valid() and (saved := _carried_out(form, lambda by: _save(form, row, by), request)):
                if isinstance(saved, Subscription) and saved.new_secret:
                    return self._secret_page(request, saved, saved.new_secret)
                messages.success(request, gettext("The subscription was saved."))
                where = console_url(ONE, saved.id) if isinstance(saved, Subscription) else console_url(LIST)
                return HttpResponseRedirect(where)
        title = gettext("New subscription") if row is None else gettext("Edit: {row}").format(row=row)
        context = self.page(request) | {"title": title, "form": form, "subscription": row}
        return TemplateResponse(request, "tasks_app/subscription_form.html", context, status=status)

    def _secret_page(self, request: HttpRequest, row: Subscription, secret: str) -> HttpResponse:
        """The page with its text, which is nowhere else."""
        context = self.page(request) | {
            "title": gettext("Secret of {row}").format(row=row),
            "subscription": row,
            "text": secret,
        }
        return TemplateResponse(request, "tasks_app/subscription_secret.html", context)

    def page(self, request: HttpRequest) -> dict[str, Any]:
        """What every page of ours needs."""
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Subscriptions"),
            "may_operate": may_operate_subscriptions(request),
            "now": timezone.now(),
        }


def _offered(row: Subscription) -> list[str]:
    offered = ["pause" if row.state == Subscription.ACTIVE else "resume", "replay"]
    if _fails(row):
        offered.append("skip")
    if row.sink == Subscription.WEBHOOK:
        offered += ["secret", "withdraw"] if len(row.secrets) > 1 else ["secret"]
    return [*offered, "delete"]


def _fails(row: Subscription) -> bool:
    return row.failing_since is not None or row.state == Subscription.SUSPENDED


def _act(verb: str, row: Subscription, given: dict[str, Any], operator: Operator) -> object:
    match verb:
        case "pause":
            if not lifecycle.pause(row.id, operator):
                raise PunctualError(gettext("it is not active, so there is nothing to pause."))
        case "resume":
            if not lifecycle.resume(row.id, operator, since=given["since"]):
                raise PunctualError(gettext("it is active already."))
        case "replay":
            lifecycle.replay(row.id, given["since"], operator)
        case "skip":
            subscriptions.skip_event(row.id, given["event"], operator)
        case "secret":
            return lifecycle.add_secret(row.id, operator)
        case "withdraw":
            lifecycle.withdraw_old_secrets(row.id, operator)
        case "delete":
            lifecycle.unsubscribe(row.id, operator)
    return True


def _save(form: SubscriptionForm, row: Subscription | None, operator: Operator) -> Subscription:
    given = form.cleaned_data
    wanted = {"events": given["events"], "task_types": given["task_types"], "to": form.target}
    if row is not None:
        return subscriptions.change(row.id, operator, **wanted)
    return subscriptions.create(
        given["name"], operator=operator, tenant=given["tenant"] or None, since=given["since"], **wanted
    )


def _carried_out(form: forms.Form, deed: Callable[[Operator], Done], request: HttpRequest) -> Done | bool:
    """What the deed says, or True if this form was sent before; False, and the form says why, if it can't be done."""
    try:
        operator = Operator(request.user.get_username(), form.cleaned_data["reason"], form.cleaned_data["operation"])
        return once(operator, lambda: deed(operator)) or True
    except NotThere as error:
        raise Http404(str(error)) from None
    except PunctualError as error:
        form.blame(error) if isinstance(form, SubscriptionForm) else form.add_error(None, str(error))
    except OperationalError as error:
        # A lock that somebody held for too long.
        form.add_error(
            None,
            gettext("It could not be done: {error} Nothing was changed; try again.").format(
                error=str(error).splitlines()[0]
            ),
        )
    return False


def _row(object_id: int | str) -> Subscription:
    try:
        found: Subscription = Subscription.objects.get(id=int(object_id), **whose())
        return found
    except (ValueError, OverflowError, Subscription.DoesNotExist):
        raise Http404(
            gettext("There is no subscription {object_id!r}.").format(object_id=str(object_id)[:40])
        ) from None
