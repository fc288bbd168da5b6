"""Moving the publish times of many articles: a preview first, then exactly that, for all of them or for none."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from articles_app.errors import ArticleError
from articles_app.lifecycle import NewTime, TimeOutcome, change_publish_times
from articles_app.models import Article
from articles_app.states import ArticleStatus
from django_punctual import ScheduleConflict
from django_punctual.pages import take_back

from .hints import LABELS
from .move_form import MoveForm, Proposal, propose
from .numbers import NONE, read_id, read_revision
from .page import BUSY, is_locked
from .questions import ON_ITS_WAY
from .times import database_now, spoken
from .zones import zone_of

MOST = 10_000
SHOWN = 20
NEEDED = ("id", "title", "status", "publish_time", "offline_time", "revision")


def bulk_move(request: HttpRequest, admin: ModelAdmin, chosen: Sequence[int] | None = None) -> HttpResponse:
    """The page; `chosen` comes from the list's action, afterwards the page itself says what was chosen."""
    if not admin.has_change_permission(request):
        raise PermissionDenied
    back = HttpResponseRedirect(reverse("admin:articles_app_article_changelist"))
    given, step = request.POST, request.POST.get("step", "") if chosen is None else "choose"
    if request.method != "POST":
        given, step = take_back(request), "preview"
        if given is None:
            return back
    # By article; None: it was chosen in the list, which sends no revision.
    revisions: dict[int, int | None] = (
        _read_chosen(given.get("chosen", "")) if chosen is None else dict.fromkeys(chosen)
    )
    if not 0 < len(revisions) <= MOST:
        many = gettext(
            "More than {most:,} articles are selected, too many to move at once. Filter the list first."
        ).format(most=MOST)
        messages.error(request, many if revisions else gettext("Select the articles to move first."))
        return back
    now = database_now()
    articles = list(Article.objects.filter(id__in=revisions).only(*NEEDED).order_by("publish_time", "id"))
    form = MoveForm(given if step in ("preview", "move") else None, zone_of(request).zone)
    context = admin.admin_site.each_context(request) | _basics(form, articles)
    if form.is_bound and form.is_valid():
        proposal = propose(form, articles)
        refused = proposal.impossible
        if step == "move" and not refused:
            refused = _move(request, form, proposal, revisions, now)
            if not refused:
                return back
        context |= {"refused": refused, "preview": _preview(form, proposal, now) if not proposal.impossible else None}
    return TemplateResponse(request, "articles_app/bulk_move.html", context)


def _read_chosen(text: str) -> dict[int, int | None]:
    chosen: dict[int, int | None] = {}
    for part in text.split(","):
        id_, _, revision = part.partition(":")
        one = read_id(id_), read_revision(revision)
        if NONE not in one:
            chosen[one[0]] = one[1]
    return chosen


def _basics(form: MoveForm, articles: list[Article]) -> dict[str, object]:
    return {
        "title": gettext("Move publish times"),
        "form": form,
        "zone": form.zone.key,
        "count": len(articles),
        # The revisions as this page has read them: whoever writes an article after it is not stepped over.
        "chosen": ",".join(f"{article.id}:{article.revision}" for article in articles),
        "unclear": form.unclear,
        "meant": form.data.get("at_meant", "") if form.is_bound else "",
    }


def _move(
    request: HttpRequest, form: MoveForm, proposal: Proposal, revisions: dict[int, int | None], now: datetime
) -> str:
    """Carry out what the preview has shown; if that can't be done, the sentence that says why."""
    if request.POST.get("shown") != form.fingerprint():
        return str(
            gettext("Nothing has been moved yet: the form has changed since the preview. This is what it would do now.")
        )
    at_once = _at_once(proposal, now)
    if at_once and request.POST.get("at_once") != str(at_once):
        words = ngettext(
            "Nothing has been moved yet: {count:,} article would be published at once, since the new time has passed. "
            "Confirm it below.",
            "Nothing has been moved yet: {count:,} articles would be published at once, since the new time has passed. "
            "Confirm it below.",
            at_once,
        )
        return str(words.format(count=at_once))
    wanted = [NewTime(article.id, at, revisions[article.id]) for article, at in proposal.moves]
    try:
        answers = change_publish_times(wanted, actor=request.user.get_username())
    except (ArticleError, ScheduleConflict) as error:
        return str(gettext("Nothing was changed: {error} Below is what it would do now.").format(error=error))
    except OperationalError as error:
        if not is_locked(error):
            raise
        return str(BUSY)
    counts = Counter(answer.outcome for answer in answers)
    moved = [answer.new for answer in answers if answer.outcome.changed]
    messages.success(request, _outcome(counts, moved, form.zone, now))
    too_late = counts[TimeOutcome.IGNORED] + len(proposal.too_late)
    if too_late:
        words = ngettext(
            "{count:,} article was already published and left unchanged.",
            "{count:,} articles were already published and left unchanged.",
            too_late,
        )
        messages.warning(request, words.format(count=too_late))
    if proposal.in_the_way:
        words = ngettext(
            "{count:,} article was left alone because of an earlier offline time.",
            "{count:,} articles were left alone because of an earlier offline time.",
            len(proposal.in_the_way),
        )
        messages.warning(request, words.format(count=len(proposal.in_the_way)))
    return ""


def _at_once(proposal: Proposal, now: datetime) -> int:
    """How many would be published by the move itself, since they wait and their new time has passed."""
    return sum(at <= now and article.status in ON_ITS_WAY for article, at in proposal.moves)


def _outcome(counts: Counter[TimeOutcome], moved: list[datetime], zone: ZoneInfo, now: datetime) -> str:
    if not moved:
        return str(gettext("Nothing was moved."))
    first, last = spoken(min(moved), zone, now), spoken(max(moved), zone, now)
    said = (
        ngettext("Moved {count:,} article, to {first}.", "Moved {count:,} articles, to {first}.", len(moved))
        if first == last
        else ngettext(
            "Moved {count:,} article, the first to {first}, the last to {last}.",
            "Moved {count:,} articles, the first to {first}, the last to {last}.",
            len(moved),
        )
    ).format(count=len(moved), first=first, last=last)
    running = counts[TimeOutcome.REPLACED]
    if running:
        words = ngettext(
            "{count:,} article was already running: those attempts were superseded and new ones scheduled.",
            "{count:,} articles were already running: those attempts were superseded and new ones scheduled.",
            running,
        )
        said += " " + words.format(count=running)
    return str(said)


def _preview(form: MoveForm, proposal: Proposal, now: datetime) -> dict[str, object]:
    zone, times = form.zone, sorted(at for _, at in proposal.moves)
    return {
        "fingerprint": form.fingerprint(),
        "moves": len(times),
        "too_late": len(proposal.too_late),
        "in_the_way": len(proposal.in_the_way),
        "passed": sum(at <= now for at in times),
        "at_once": _at_once(proposal, now),
        "first": spoken(times[0], zone, now) if times else "",
        "last": spoken(times[-1], zone, now) if times else "",
        "rows": [
            {
                "title": article.title,
                "label": LABELS[ArticleStatus(article.status)],
                "old": spoken(article.publish_time, zone, now),
                "new": spoken(at, zone, now),
                "passed": at <= now,
            }
            for article, at in proposal.moves[:SHOWN]
        ],
        "more": max(len(times) - SHOWN, 0),
    }
