"""The page of one article, new or not: its form, its buttons, what is going on, and its timeline."""

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy

from articles_app.errors import AlreadyCreated, ArticleError, StaleArticle
from articles_app.models import Article
from articles_app.states import ArticleStatus
from django_punctual import ScheduleConflict
from django_punctual.pages import take_back

from .form import EDITABLE, FIELDS, TIMES, ArticleForm, digest, shown_values
from .hints import badge_of, hints
from .questions import Question, made_before, questions
from .timeline import Entry, events_since, timeline
from .times import database_now, for_browser, in_utc, local_only, read_local, spoken, typed
from .verbs import BUTTONS, VERBS, create, perform
from .words import Said
from .zones import EditorZone, zone_of

log = logging.getLogger(__name__)

AUDIT_RIGHT = "articles_app.audit_article"
NO = "no"  # the answer to a question; nothing is done
BUSY = gettext_lazy("The article is being changed right now. Nothing was changed; try again in a few seconds.")
OVERTAKEN = gettext_lazy("Nothing was changed: somebody else has changed the article since you opened it.")
SENT_BEFORE = gettext_lazy("This form was sent before and created this article; nothing was created twice.")
FIELD_WORDS = {
    "title": gettext_lazy("Title"),
    "body": gettext_lazy("Text"),
    "publish_time": gettext_lazy("Publish on"),
    "offline_time": gettext_lazy("Take offline on"),
}


@dataclass
class Page:
    """What one answer shows."""

    request: HttpRequest
    article: Article | None
    may_change: bool
    may_see_tasks: bool
    zone: EditorZone
    now: datetime
    form: ArticleForm
    revision: int
    refused: str = ""  # why nothing was written, in a sentence
    questions: list[Question] = field(default_factory=list)  # to be answered before the button does it
    verb: str = ""  # that button
    since: list[Entry] = field(default_factory=list)  # what others did meanwhile
    theirs: dict[str, str] = field(default_factory=dict)  # by field: what it is now, where both have changed it
    kept: dict[str, str] = field(default_factory=dict)  # what was typed into fields that can't be changed any more
    creation: str = ""  # of a new article: sent with the form, so that sending it twice makes one
    made: int | None = None  # what the form has made already


def article_page(request: HttpRequest, admin: ModelAdmin, article: Article | None) -> HttpResponse:
    """GET shows it; POST does what the pressed button said, or says why it did not."""
    allowed = admin.has_add_permission(request) if article is None else admin.has_change_permission(request, article)
    zone, now = zone_of(request), database_now()
    may_see_tasks = request.user.has_perm("punctual.view_scheduletask")
    page = Page(
        request, article, allowed, may_see_tasks, zone, now, _fresh(article, zone.zone, now), _revision(article)
    )
    if article is None:
        page.creation = str(uuid4())
    if request.method == "POST":
        if not allowed:
            raise PermissionDenied
        page.verb, *sure = request.POST.get("yes", request.POST.get("verb", "")).split("|")
        if page.verb not in {*VERBS, NO}:
            buttons = ", ".join(sorted(VERBS))
            return HttpResponseBadRequest(
                gettext("There is no button {verb!r}; there are {buttons}.").format(
                    verb=page.verb[:40], buttons=buttons
                )
            )
        answer = _press(page, sure)
        if answer is not None:
            return answer
    elif allowed:
        _fill_in_again(page)
    context = admin.admin_site.each_context(request) | _context(page)
    return TemplateResponse(request, "articles_app/article.html", context)


def _fresh(article: Article | None, zone: ZoneInfo, now: datetime) -> ArticleForm:
    if article is None:
        hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=2)
        return ArticleForm(None, {"publish_time": typed(hour, zone)}, FIELDS, zone)
    return ArticleForm(None, shown_values(article, zone), EDITABLE[ArticleStatus(article.status)], zone)


def _revision(article: Article | None) -> int:
    return 0 if article is None else article.revision


def _press(page: Page, sure: list[str]) -> HttpResponse | None:
    """Done and redirected; None: refused or asked, and the page says so with everything typed still in it."""
    page.form = form = ArticleForm(page.request.POST, {}, FIELDS if page.article is None else None, page.zone.zone)
    page.revision = form.revision
    if form.creation is not None:
        page.creation = str(form.creation)
    if page.verb == NO:
        page.refused = gettext("Nothing was changed. What you typed is still here.")
        return None
    if not form.is_valid():
        page.refused = gettext("Nothing was changed: please check what you typed.")
        return None
    asked = questions(page.verb, page.article, form, form.zone, page.now)
    if page.article is None and (question := made_before(form, page.request.user.get_username(), page.now)):
        asked.append(question)
    if not {question.key for question in asked} <= set(sure):
        page.questions = asked
        return None
    if page.article is None and form.creation is None:
        page.refused = gettext(
            "Nothing has been created yet: this page had expired. It is fresh now; press the button again."
        )
        return None
    verb, actor, zone = page.verb, page.request.user.get_username(), form.zone
    try:
        if page.article is None:
            assert form.creation is not None  # or it was refused above
            article_id, said = create(verb, form, actor, form.creation, zone, page.now)
        else:
            article_id, said = page.article.id, perform(verb, page.article, form, actor, zone, page.now)
    except AlreadyCreated as error:
        if not error.same:
            _made_already(page, error.article_id)
            return None
        article_id, said = error.article_id, [Said(messages.WARNING, SENT_BEFORE)]
    except StaleArticle as error:
        _overtaken(page, error.article_id)
        return None
    except (ArticleError, ScheduleConflict) as error:
        page.refused = gettext("Nothing was changed: {error}").format(error=error)
        return None
    except OperationalError as error:
        if not is_locked(error):
            raise
        log.warning("article.locked id=%s", page.article.id if page.article else None)
        page.refused = BUSY
        return None
    _say(page.request, said)
    return HttpResponseRedirect(reverse("admin:articles_app_article_change", args=[article_id]))


def _fill_in_again(page: Page) -> None:
    """Whoever had to log in again finds what they typed; and, if others have written the article since, what."""
    typed = take_back(page.request)
    if typed is None:
        return
    page.form = form = ArticleForm(typed, {}, FIELDS if page.article is None else None, page.zone.zone)
    page.revision, page.creation = form.revision, str(form.creation or page.creation)
    if page.article is not None and page.article.revision != form.revision:
        _overtaken(page, page.article.id)


def _made_already(page: Page, article_id: int) -> None:
    """Somebody went back and typed something else: no resend, but maybe not meant as a second article either."""
    page.made, page.creation = article_id, str(uuid4())
    page.refused = gettext(
        "Nothing was created: this form has already created article {article}, with another text. What you typed is "
        "still here: press the button again to create a second article."
    ).format(article=article_id)


def is_locked(error: OperationalError) -> bool:
    """Somebody held the row for longer than lock_timeout."""
    return getattr(error.__cause__, "sqlstate", "") == "55P03"


def _say(request: HttpRequest, said: list[Said]) -> None:
    for level, sentence in said:
        messages.add_message(request, level, sentence)


def _overtaken(page: Page, article_id: int) -> None:
    """Somebody was faster. What was typed stays, what was not touched becomes what it is now, and both are told."""
    old, zone = page.form, page.form.zone
    page.article = article = Article.objects.get(id=article_id)
    page.since = events_since(article.id, old.revision, zone, page.now)
    page.refused = OVERTAKEN
    now, editable = shown_values(article, zone), EDITABLE[ArticleStatus(article.status)]
    data = {"revision": str(article.revision), "zone": zone.key}
    for name in FIELDS:
        mine = old.data.get(name, "")
        touched = name in old.touched and digest(mine) != digest(now[name])
        if name not in editable:
            page.kept |= {FIELD_WORDS[name]: mine} if touched else {}
            continue
        data |= {name: mine if touched else now[name], f"base_{name}": digest(now[name])}
        if touched and name in old.fields and digest(now[name]) != old.data[f"base_{name}"]:
            page.theirs[name] = now[name]
    page.form, page.revision = ArticleForm(data, {}, None, zone), article.revision


def _context(page: Page) -> dict[str, object]:
    article, zone, now = page.article, page.form.zone, page.now
    status = None if article is None else ArticleStatus(article.status)
    touched = page.form.touched if page.form.is_bound else set()
    time, passed = _publish_time_in_form(page)
    context = {
        "page": page,
        "title": gettext("New article") if article is None else article.title,
        "article": article,
        "status": status,
        "zone": zone.key,
        "zone_chosen": page.zone.chosen,
        "touched": sorted(touched),
        "words": for_browser(),
        "dirty": bool(touched or page.refused or page.questions),
        "yes": "|".join([page.verb, *(question.key for question in page.questions)]),
        "fields": [_field(page, name) for name in page.form.fields] if page.may_change else [],
        "buttons": [
            {"button": one, "says": one.says(time, passed, touched), "hidden": one.hidden(touched)}
            for one in (BUTTONS[status] if page.may_change else [])
        ],
    }
    if article is not None:
        hint = hints([article], zone, now)[article.id]
        badge, label = badge_of(article, hint)
        shown = [name for name in FIELDS if name not in (page.form.fields if page.may_change else ())]
        context |= {
            "opts": Article._meta,  # with the object, the way back to the list
            "object": article,
            "badge": badge,
            "label": label,
            "hint": hint,
            "hint_text": hint.text(now),
            "hint_kind": hint.kind_at(now),
            "facts": _facts(article, shown, zone, now),
            "timeline": timeline(article, zone, now),
            "may_audit": status == ArticleStatus.PENDING_AUDIT and page.request.user.has_perm(AUDIT_RIGHT),
        }
    return context


def _field(page: Page, name: str) -> dict[str, object]:
    """A field with all that stands beside it."""
    bound = page.form[name]
    shown = bound.value() if not page.form.is_bound else None
    base = page.form.data.get(f"base_{name}", "") if page.form.is_bound else digest(shown or "" if page.article else "")
    return {
        "field": bound,
        "name": name,
        "base": base,
        "choices": page.form.unclear.get(name, []),
        "meant": page.form.data.get(f"{name}_meant", ""),
        "theirs": page.theirs.get(name),
        "stored": page.article and name in TIMES and getattr(page.article, name),
    }


def _publish_time_in_form(page: Page) -> tuple[str, bool]:
    """The publish time that a button would set, in words, and whether it has passed."""
    form = page.form
    at = None if page.article is None else page.article.publish_time
    if at is None or (form.is_bound and "publish_time" in form.touched):
        try:
            at = read_local(form["publish_time"].value() or "", form.zone)
        except ValueError:
            return gettext("the time above"), False
    return spoken(at, form.zone, page.now), at <= page.now


def _facts(article: Article, names: list[str], zone: ZoneInfo, now: datetime) -> list[tuple[str, str, str]]:
    """What is shown but can't be changed: name, value, and a second line."""
    facts = []
    for name in names:
        value = getattr(article, name)
        if name in ("publish_time", "offline_time") and value is not None:
            facts.append((FIELD_WORDS[name], f"{local_only(value, zone, now)} {zone.key}", in_utc(value, zone)))
        else:
            facts.append((FIELD_WORDS[name], value or gettext("never"), ""))
    return facts
