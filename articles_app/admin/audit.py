"""Approving or rejecting an article by hand: its text as readers will see it, a reason, and two buttons."""

from datetime import datetime
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from articles_app import lifecycle
from articles_app.errors import ArticleError, StaleArticle
from articles_app.lifecycle.audit import REASON_LENGTH
from articles_app.models import Article
from articles_app.states import ArticleStatus
from django_punctual import ScheduleConflict
from django_punctual.pages import take_back

from .hints import LABELS
from .numbers import read_revision
from .page import AUDIT_RIGHT, BUSY, OVERTAKEN, is_locked
from .timeline import events_since
from .times import database_now, spoken
from .zones import zone_of

APPROVE, REJECT = "approve", "reject"


class VerdictForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=REASON_LENGTH,
        widget=UnfoldAdminTextareaWidget({"rows": 3}),
        help_text=gettext_lazy("It is kept in the article's timeline, where its author can read it."),
    )


def audit_page(request: HttpRequest, admin: ModelAdmin, article: Article) -> HttpResponse:
    """GET shows what is to be judged; POST writes the verdict about exactly that, or says why it did not."""
    if not request.user.has_perm(AUDIT_RIGHT):
        raise PermissionDenied
    now, zone = database_now(), zone_of(request).zone
    form, refused, since, read = VerdictForm(take_back(request)), "", [], article.revision
    if request.method == "POST":
        form, read = VerdictForm(request.POST), _revision(request)
        verdict = request.POST.get("verdict", "")
        if verdict not in (APPROVE, REJECT):
            refused = gettext("Nothing was changed: press one of the buttons.")
        elif not form.is_valid():
            refused = gettext("Nothing was changed: please check what you typed.")
        else:
            try:
                messages.success(request, _decide(verdict, article, form, read, request, zone, now))
                return HttpResponseRedirect(reverse("admin:articles_app_article_change", args=[article.id]))
            except StaleArticle:
                refused, since = OVERTAKEN, events_since(article.id, read, zone, now)
                article = Article.objects.get(id=article.id)
            except (ArticleError, ScheduleConflict) as error:
                refused = gettext("Nothing was changed: {error}").format(error=error)
            except OperationalError as error:
                if not is_locked(error):
                    raise
                refused = BUSY
    context = admin.admin_site.each_context(request) | {
        "title": gettext("Approve or reject"),
        "opts": Article._meta,
        "object": article,
        "article": article,
        "form": form,
        "refused": refused,
        "since": since,
        "waits": article.status == ArticleStatus.PENDING_AUDIT,
        "label": LABELS[ArticleStatus(article.status)],
        "passed": article.publish_time <= now,
        "time": spoken(article.publish_time, zone, now),
    }
    return TemplateResponse(request, "articles_app/audit.html", context)


def _revision(request: HttpRequest) -> int:
    return read_revision(request.POST.get("revision", ""))


def _decide(
    verdict: str, article: Article, form: VerdictForm, read: int, request: HttpRequest, zone: ZoneInfo, now: datetime
) -> str:
    who = {"reason": form.cleaned_data["reason"], "actor": request.user.get_username(), "revision": read}
    if verdict == REJECT:
        lifecycle.reject(article.id, **who)
        return str(gettext("Rejected: it won't go live unless it is changed and submitted again."))
    moved = lifecycle.approve(article.id, **who)
    if moved.publish_time <= now:
        return str(gettext("Approved. Its publish time has passed, so it goes live at once."))
    return str(gettext("Approved: it goes live on {time}.").format(time=spoken(moved.publish_time, zone, now)))
