"""The calendar's page: a week of articles, and moving one of them, by the form or by dropping it where it is to be."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from articles_app.errors import ArticleError, StaleArticle
from articles_app.lifecycle import change_publish_time
from articles_app.models import Article
from articles_app.states import ArticleStatus
from django_punctual import ScheduleConflict
from django_punctual.pages import take_back

from .move_form import TO, MoveForm
from .numbers import NONE, read_id, read_revision
from .page import BUSY, OVERTAKEN, is_locked
from .questions import ON_ITS_WAY, Question, publish_at_once
from .timeline import Entry, events_since
from .times import database_now, day_only, for_browser, spoken, typed
from .verbs import HARMLESS_TO_TIMES, base_revision
from .week import MOVABLE, NEEDED, WEEK, Asked, asked_for, read_days, week_of
from .words import said_of_time
from .zones import zone_of


@dataclass
class Moving:
    """The article that is being moved, and what stands in the way."""

    article: Article
    revision: int  # as the page had read it
    form: MoveForm
    refused: str = ""
    since: list[Entry] = field(default_factory=list)  # what others did meanwhile
    question: Question | None = None


def calendar(request: HttpRequest, admin: ModelAdmin) -> HttpResponse:
    """GET shows the days that the address names; POST moves one article, or says why it did not."""
    may_change, now = admin.has_change_permission(request), database_now()
    zone = zone_of(request)
    asked, moving = asked_for(request, zone.zone, now), None
    if request.method == "POST":
        if not may_change:
            raise PermissionDenied
        moving = _sent(request.POST, zone.zone)
        if moving is None:
            messages.error(request, gettext("Nothing was moved: the form doesn't say which article."))
        elif _move(request, moving, now):
            return HttpResponseRedirect(_place_of(moving.article, moving.form.zone))
    elif may_change:
        kept = take_back(request)
        moving = _sent(kept, zone.zone) if kept is not None else _opened(request.GET.get("move", ""), zone.zone)
    shown_in = zone.zone if moving is None else moving.form.zone
    context = admin.admin_site.each_context(request) | {
        "title": gettext("Calendar of articles"),
        "opts": Article._meta,
        "zone": shown_in.key,
        "zone_chosen": zone.chosen,
        "now": now,
        "words": for_browser(),
        "asked": asked,
        "is_week": asked.days == WEEK,
        "days": read_days(asked, shown_in, now, may_change),
        "hours": [f"{hour:02}:00" for hour in range(24)],
        "span": _span(asked, now),
        "before": _beside(asked, -1),
        "after": _beside(asked, 1),
        "may_change": may_change,
        "moving": moving,
        "unclear": moving.form.unclear.get("at", []) if moving else [],
        "meant": moving.form.data.get("at_meant", "") if moving else "",
    }
    return TemplateResponse(request, "articles_app/calendar.html", context)


def _sent(data: QueryDict, zone: ZoneInfo) -> Moving | None:
    revision, article = read_revision(data.get("revision", "")), _article(data.get("article", ""))
    if revision == NONE or article is None:
        return None
    given = {"mode": TO, "zone": data.get("zone", ""), "at": data.get("at", ""), "at_meant": data.get("at_meant", "")}
    return Moving(article, revision, MoveForm(given, zone))


def _opened(id_: str, zone: ZoneInfo) -> Moving | None:
    """The form for one article, as its link in the calendar opens it."""
    article = _article(id_)
    if article is None or ArticleStatus(article.status) not in MOVABLE:
        return None
    form = MoveForm(None, zone)
    form.initial = {"at": typed(article.publish_time, zone)}
    return Moving(article, article.revision, form)


def _article(id_: str) -> Article | None:
    article: Article | None = Article.objects.filter(id=read_id(id_)).only(*NEEDED).first()
    return article


def _move(request: HttpRequest, moving: Moving, now: datetime) -> bool:
    """Whether it was decided on, and said; if not, `moving` says what is missing."""
    article, form = moving.article, moving.form
    if not form.is_valid():
        moving.refused = gettext("Nothing was moved: please check the new time.")
        return False
    at, zone = form.cleaned_data["at"], form.zone
    if ArticleStatus(article.status) in MOVABLE and article.offline_time is not None and article.offline_time <= at:
        moving.refused = gettext(
            "Nothing was moved: “{title}” goes offline on {time}, and has to go live before that. Change its offline "
            "time first."
        ).format(title=article.title, time=spoken(article.offline_time, zone, now))
        return False
    if article.status in ON_ITS_WAY and at <= now:
        question = publish_at_once(at, zone, now, approved=article.status == ArticleStatus.AUDIT_SUCCESS)
        if request.POST.get("yes") != question.key:
            moving.question = question
            return False
    try:
        change = change_publish_time(
            article.id,
            at,
            actor=request.user.get_username(),
            revision=base_revision(article, moving.revision, HARMLESS_TO_TIMES),
        )
    except StaleArticle:
        moving.refused = OVERTAKEN
        moving.since = events_since(article.id, moving.revision, zone, now)
        moving.article = Article.objects.only(*NEEDED).get(id=article.id)
        moving.revision = moving.article.revision
        return False
    except (ArticleError, ScheduleConflict) as error:
        moving.refused = gettext("Nothing was changed: {error}").format(error=error)
        return False
    except OperationalError as error:
        if not is_locked(error):
            raise
        moving.refused = BUSY
        return False
    moving.article = Article.objects.only(*NEEDED).get(id=article.id)
    level, sentence = said_of_time(change, moving.article, zone, now)
    messages.add_message(request, level, f"“{article.title}”: {sentence}")
    return True


def _place_of(article: Article, zone: ZoneInfo) -> str:
    """Where it is now: its week, and its card there."""
    week = week_of(article.publish_time.astimezone(zone).date())
    return f"{reverse('admin:articles_app_article_calendar')}?{week.query}#pa-article-{article.id}"


def _beside(asked: Asked, step: int) -> str:
    return f"?{asked._replace(first=asked.first + timedelta(days=step * asked.days)).query}"


def _span(asked: Asked, now: datetime) -> str:
    first = day_only(asked.first, now)
    last = day_only(asked.first + timedelta(days=asked.days - 1), now)
    return first if asked.days == 1 else gettext("{first} to {last}").format(first=first, last=last)
