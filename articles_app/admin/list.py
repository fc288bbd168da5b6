"""The list of articles: state, times in the editor's zone, hints that count by themselves, filters and search."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.forms import Script
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from unfold.admin import ModelAdmin

from articles_app.models import Article
from articles_app.states import ArticleStatus
from articles_app.stopped import stopped
from django_punctual.pages import (
    COUNTED,
    LISTS,
    TEMPLATE,
    BoundedPaginator,
    CantShow,
    FilteredList,
    OwnLookups,
    QuickList,
    RowsTogether,
)

from . import preview
from .audit import audit_page
from .bulk import MOST, bulk_move
from .calendar import calendar
from .hints import Hint, badge_of, hints, overdue_since
from .live import live
from .page import article_page
from .search import FOUND, search
from .times import database_now, for_browser, in_utc, local_only
from .zones import choose_zone, zone_of

NOUNS = (gettext_noop("article"), gettext_noop("articles"), gettext_noop("author"))  # which `translate_names` asks for
SHOWN = {
    "drafts": gettext_lazy("Drafts"),
    "audit": gettext_lazy("Waiting for audit"),
    "scheduled": gettext_lazy("Scheduled"),
    "overdue": gettext_lazy("Overdue"),
    "failed": gettext_lazy("Failed"),
    "live": gettext_lazy("Live"),
}
WAITING = [ArticleStatus.PENDING_AUDIT, ArticleStatus.AUDIT_SUCCESS]


class FilterForm(forms.Form):
    """What of the list's address is a filter that can be saved; how it is sorted goes with it."""

    show = forms.ChoiceField(required=False, choices=SHOWN.items())
    q = forms.CharField(required=False, max_length=200)
    o = forms.RegexField("-?[0-9]", required=False)


class ShowFilter(admin.SimpleListFilter):
    """One question at a time, as an editor asks it; shown as a row of links above the list."""

    title, parameter_name = gettext_lazy("what to show"), "show"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[str, str]]:
        return [(value, str(words)) for value, words in SHOWN.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        match self.value():
            case "drafts":
                return queryset.filter(status=ArticleStatus.DRAFT)
            case "audit":
                return queryset.filter(status=ArticleStatus.PENDING_AUDIT)
            case "scheduled":
                return queryset.filter(status=ArticleStatus.AUDIT_SUCCESS)
            case "overdue":
                # By the article's own time: one whose task was lost is overdue too.
                return queryset.filter(status__in=WAITING, publish_time__lt=overdue_since(database_now()))
            case "failed":
                failed = Q(status=ArticleStatus.AUDIT_FAIL)
                for status, ids in stopped():
                    failed |= Q(status=status, id__in=ids)
                return queryset.exclude(status=ArticleStatus.PUBLISHED, offline_time=None).filter(failed)
            case "live":
                return queryset.filter(status=ArticleStatus.PUBLISHED)
            case None:
                return queryset
        raise CantShow(gettext("it can't show {value!r}.").format(value=self.value()[:40]))


def _may_view(request: HttpRequest) -> bool:
    """As Django sees it: whoever may change articles may view them."""
    return any(request.user.has_perm(f"articles_app.{verb}_article") for verb in ("view", "change"))


LISTS["articles"] = FilteredList("articles_app_article_changelist", FilterForm, _may_view)


class ArticleList(RowsTogether, QuickList):
    """The links above the list are the filter; unfold's sheet of filters can't be reached with a keyboard."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet) -> list[str]:
        """What waits for its time: the next first."""
        if not self.params.get("o") and request.GET.get("show") in ("scheduled", "overdue"):
            return ["publish_time", "id"]
        ordering: list[str] = super().get_ordering(request, queryset)
        return ordering

    def read(self, request: HttpRequest, rows: list[Article], found: int) -> None:
        """The page's hints in a few statements for all of its rows."""
        self.is_more = found == (FOUND if self.query else COUNTED)
        self.now, self.zone = database_now(), zone_of(request)
        of_rows = hints(rows, self.zone.zone, self.now)
        for article in rows:
            article.shown = _Shown(of_rows[article.id], self.zone.zone, self.now)


class _Shown:
    """What the columns of one row need beside the row."""

    def __init__(self, hint: Hint, zone: ZoneInfo, now: datetime) -> None:
        self.hint, self.zone, self.now = hint, zone, now


@admin.register(Article)
class ArticleAdmin(OwnLookups, ModelAdmin):
    list_display = ["named", "state", "publishes", "next", "author"]
    list_display_links = ["named"]
    list_filter = [ShowFilter]
    list_per_page = 50
    change_list_template = TEMPLATE
    list_before_template = "articles_app/list_before.html"
    search_fields = ["title"]
    search_help_text = gettext_lazy("Words from the title, or an article number")
    show_full_result_count = False
    ordering = ["-id"]
    paginator = BoundedPaginator
    actions = ["move_publish_times"]

    class Media:
        css = {"all": ["tasks_app/operator.css", "articles_app/admin.css"]}
        js = [Script("articles_app/zone.js", defer=True), Script("articles_app/live.js", defer=True)]

    # Columns

    @admin.display(description=gettext_lazy("Title"))
    def named(self, article: Article) -> str:
        return article.title

    @admin.display(description=gettext_lazy("State"))
    def state(self, article: Article) -> SafeString:
        badge, label = badge_of(article, article.shown.hint)
        return format_html('<span class="pa-badge pa-{}" data-badge="{}">{}</span>', badge, article.id, label)

    @admin.display(description=gettext_lazy("Publish time"), ordering="publish_time")
    def publishes(self, article: Article) -> SafeString:
        zone, now = article.shown.zone, article.shown.now
        local = local_only(article.publish_time, zone, now)
        if zone.key == "UTC":
            return format_html('<span class="pa-time">{} UTC</span>', local)
        utc = in_utc(article.publish_time, zone)
        return format_html('<span class="pa-time">{}</span> <span class="pa-utc">{}</span>', local, utc)

    @admin.display(description=gettext_lazy("What happens next"))
    def next(self, article: Article) -> SafeString:
        hint, now = article.shown.hint, article.shown.now
        return format_html(
            '<span class="pa-hint" data-article="{}" data-title="{}" data-status="{}" data-revision="{}" data-kind="{}"'
            ' data-at="{}" data-before="{}" data-after="{}">{}</span>',
            article.id,
            article.title,
            article.status,
            article.revision,
            hint.kind_at(now),
            hint.at.timestamp() if hint.at else "",
            hint.before,
            hint.after,
            hint.text(now),
        )

    # The list

    def get_changelist(self, request: HttpRequest, **options: object) -> type[ArticleList]:
        return ArticleList

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).defer("body")

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, term: str) -> tuple[QuerySet, bool]:
        term = term.strip().replace("\0", "")
        if term.isdecimal() and len(term) < 19 and queryset.filter(id=int(term)).exists():
            return queryset.filter(id=int(term)), False
        if not term:
            return queryset, False
        return self.get_queryset(request).filter(id__in=search(queryset, term)), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"words": for_browser()} | (extra_context or {}))

    @admin.action(description=gettext_lazy("Move publish times …"), permissions=["change"])
    def move_publish_times(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse:
        return bulk_move(request, self, list(queryset.order_by("id").values_list("id", flat=True)[: MOST + 1]))

    # The pages

    def get_urls(self) -> list[Any]:
        def guarded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
            def checked(request: HttpRequest, **args: object) -> HttpResponse:
                if not self.has_view_permission(request):
                    raise PermissionDenied
                return view(request, **args)

            shown: Callable[..., HttpResponse] = self.admin_site.admin_view(checked)
            return shown

        return [
            path("live/", guarded(live), name="articles_app_article_live"),
            path("calendar/", guarded(lambda request: calendar(request, self)), name="articles_app_article_calendar"),
            path("preview/", guarded(preview.typed), name="articles_app_article_preview_typed"),
            path(
                "<str:object_id>/preview/",
                guarded(lambda request, object_id: preview.saved(request, self._article(object_id))),
                name="articles_app_article_preview",
            ),
            path(
                "<str:object_id>/audit/",
                guarded(lambda request, object_id: audit_page(request, self, self._article(object_id))),
                name="articles_app_article_audit",
            ),
            path("move/", guarded(lambda request: bulk_move(request, self)), name="articles_app_article_move"),
            path(
                "zone/",
                guarded(lambda request: choose_zone(request, self.admin_site)),
                name="articles_app_article_zone",
            ),
            *super().get_urls(),
        ]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return article_page(request, self, None)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        article = self._article(object_id)
        if not self.has_view_permission(request, article):
            raise PermissionDenied
        return article_page(request, self, article)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self.change_view(request, object_id)

    def _article(self, object_id: str) -> Article:
        if object_id.isdecimal() and 0 < int(object_id[:19]) < 2**63 and len(object_id) < 20:
            article: Article | None = Article.objects.filter(id=int(object_id)).first()
            if article is not None:
                return article
        raise Http404(gettext("There is no article {object_id}.").format(object_id=object_id[:40]))

    def has_delete_permission(self, request: HttpRequest, obj: Article | None = None) -> bool:
        """An article leaves by going offline; its history stays."""
        return False
