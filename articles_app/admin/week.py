"""A week of articles, day by day in the editor's zone, read by an index and bounded however many there are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.core.exceptions import BadRequest
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from articles_app.models import Article
from articles_app.states import ArticleStatus, sources_of
from django_punctual.pages import SHOWN, refuse_unknown

from .hints import Hint, badge_of, hints
from .numbers import NONE, read_id
from .times import day_only, hour_only, typed

WEEK, HOURS = 7, 24
# Of each day: as many as people take in beside six others, and as many as one answer to an open page may be about.
IN_A_WEEK, IN_A_DAY = 25, 200
NEEDED = ("id", "title", "status", "revision", "publish_time", "offline_time", "published_at", "audit_reason")
FIRST_DAY, LAST_DAY = date(1970, 1, 5), date(9990, 1, 1)
MOVABLE = frozenset(sources_of("change_publish_time"))


class Asked(NamedTuple):
    """Which days a page shows, as its address says it."""

    first: date
    days: int
    after: tuple[datetime, int] | None = None  # of a single day: those after this one

    @property
    def query(self) -> str:
        return f"{'week' if self.days == WEEK else 'day'}={self.first.isoformat()}"


class Card(NamedTuple):
    article: Article
    hour: int
    time: str
    drawn: SafeString


class Slot(NamedTuple):
    hour: str
    cards: list[Card]


@dataclass
class Day:
    on: date
    name: str
    today: bool
    cards: list[Card] = field(default_factory=list)
    more: str = ""  # where the rest of the day begins

    @property
    def slots(self) -> Iterator[Slot]:
        for hour in range(HOURS):
            yield Slot(f"{hour:02}", [card for card in self.cards if card.hour == hour])

    @property
    def drawn_slots(self) -> SafeString:
        """As HTML; made here, since a template takes several times as long."""
        return SafeString(
            "".join(
                f'<div class="pa-slot" data-day="{self.on.isoformat()}" data-hour="{slot.hour}">'
                f"{''.join(card.drawn for card in slot.cards)}</div>\n"
                for slot in self.slots
            )
        )


def asked_for(request: HttpRequest, zone: ZoneInfo, now: datetime) -> Asked:
    """`week` is any day of it; `day` a single one. Neither: this week."""
    refuse_unknown(request, ("week", "day", "after", "move"))
    given = request.GET
    if "day" in given:
        return Asked(_date("day", given["day"]), 1, _after(given["after"]) if "after" in given else None)
    on = _date("week", given["week"]) if "week" in given else now.astimezone(zone).date()
    return week_of(on)


def week_of(on: date) -> Asked:
    return Asked(on - timedelta(days=on.weekday()), WEEK)


def read_days(asked: Asked, zone: ZoneInfo, now: datetime, may_change: bool) -> list[Day]:
    """One statement for the articles, those of `hints` for their tasks."""
    most = IN_A_WEEK if asked.days > 1 else IN_A_DAY
    dates = [asked.first + timedelta(days=number) for number in range(asked.days)]
    reads = [_of_day(one, zone, asked.after)[: most + 1] for one in dates]
    articles = list(reads[0].union(*reads[1:], all=True) if len(reads) > 1 else reads[0])
    articles.sort(key=lambda article: (article.publish_time, article.id))
    today = now.astimezone(zone).date()
    days = {one: Day(one, day_only(one, now), one == today) for one in dates}
    found = hints(articles, zone, now)
    draw = _Cards(asked, zone, now, may_change)
    for article in articles:
        day = days[article.publish_time.astimezone(zone).date()]
        if len(day.cards) < most:
            day.cards.append(draw.card(article, found[article.id]))
        else:
            day.more = f"?day={day.on.isoformat()}{'' if asked.days > 1 else _behind(day.cards[-1].article)}"
    return list(days.values())


def _behind(article: Article) -> str:
    return f"&after={article.publish_time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}~{article.id}"


def _of_day(on: date, zone: ZoneInfo, after: tuple[datetime, int] | None) -> QuerySet[Article]:
    begin, end = (datetime.combine(one, time(), zone).astimezone(UTC) for one in (on, on + timedelta(days=1)))
    found = Article.objects.filter(publish_time__gte=begin, publish_time__lt=end)
    if after is not None:
        at, id_ = after
        # The first condition is for the index; the second keeps the order between equal times.
        found = found.filter(publish_time__gte=at).filter(Q(publish_time__gt=at) | Q(id__gt=id_))
    return found.only(*NEEDED).order_by("publish_time", "id")


_CARD = (
    '<article class="pa-card" id="pa-article-{id}" tabindex="-1" aria-label="{title}" data-article="{id}"'
    ' data-revision="{revision}" data-at="{typed}"{draggable}>'
    '<span class="pa-time">{time}</span> <span class="pa-badge pa-{badge}" data-badge="{id}">{label}</span>'
    ' <a class="pa-title" href="{list}{id}/change/" draggable="false">{title}</a>'
    ' <span class="pa-hint" data-article="{id}" data-title="{title}" data-status="{status}" data-revision="{revision}"'
    ' data-kind="{kind}" data-at="{at}" data-before="{before}" data-after="{after}">{hint}</span>{move}</article>'
)
_MOVE = ' <a class="pa-move-link" href="?{query}&amp;move={id}" draggable="false" aria-label="{label}">{words}</a>'


class _Cards:
    """Draws the cards of one page."""

    def __init__(self, asked: Asked, zone: ZoneInfo, now: datetime, may_change: bool) -> None:
        self._query, self._zone, self._now, self._may_change = asked.query, zone, now, may_change
        self._list = reverse("admin:articles_app_article_changelist")
        self._move, self._move_it = gettext("Move"), gettext("Move “%(title)s”")

    def card(self, article: Article, hint: Hint) -> Card:
        zone, now = self._zone, self._now
        badge, label = badge_of(article, hint)
        movable = self._may_change and ArticleStatus(article.status) in MOVABLE
        time = hour_only(article.publish_time, zone)
        drawn = format_html(
            _CARD,
            id=article.id,
            title=article.title,
            revision=article.revision,
            typed=typed(article.publish_time, zone),
            draggable=SafeString(' draggable="true"' if movable else ""),
            time=time,
            badge=badge,
            label=label,
            list=self._list,
            status=article.status,
            kind=hint.kind_at(now),
            at=f"{hint.at.timestamp():f}" if hint.at else "",
            before=hint.before,
            after=hint.after,
            hint=hint.text(now),
            move=self._link(article) if movable else "",
        )
        return Card(article, article.publish_time.astimezone(zone).hour, time, drawn)

    def _link(self, article: Article) -> SafeString:
        label = self._move_it % {"title": article.title}
        return format_html(_MOVE, query=self._query, id=article.id, label=label, words=self._move)


def _date(name: str, text: str) -> date:
    try:
        on = date.fromisoformat(text)
    except ValueError:
        on = None
    if on is None or not FIRST_DAY <= on <= LAST_DAY:
        raise BadRequest(
            gettext("{name}={text!r} is not a day; write one like {name}=2027-03-01, from 1970 to 9989.").format(
                name=name, text=text[:SHOWN]
            )
        )
    return on


def _after(text: str) -> tuple[datetime, int]:
    at, _, id_ = text.partition("~")
    try:
        if read_id(id_) == NONE:
            raise ValueError
        return datetime.fromisoformat(at).replace(tzinfo=UTC), read_id(id_)
    except ValueError:
        raise BadRequest(
            gettext("after={text!r} is not a place in a day; follow the link of the page.").format(text=text[:SHOWN])
        ) from None
