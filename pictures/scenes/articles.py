"""Articles in all the states that an editor sees, some of them about to go live."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from articles_app import lifecycle
from articles_app.models import Article
from django_punctual.testing import frozen_clock
from pictures.stack import Stack

from .people import ANN
from .times import now

BODY = "From Monday on, all branches are open until eight in the evening. On Saturdays we close at six, as before."
DRAFT = "Winter opening hours"


def articles(stack: Stack) -> Iterator[None]:
    """Two are long live; the others come once there is somebody to audit and publish them."""
    begun = now() - timedelta(hours=6)
    with frozen_clock(begun) as clock:
        for title in ("Ten years of our shop", "Returns made simple"):
            _live(_draft(title, clock.now))
            clock.advance(timedelta(minutes=94))
    yield
    at = now()
    full = at.replace(minute=0, second=0, microsecond=0)
    _submitted("Gift guide: ideas under 20 euros", full + timedelta(days=6))
    _submitted("Meet the people behind our coffee", full + timedelta(days=3, hours=2, minutes=30))
    _submitted("How we test a rain jacket", full + timedelta(days=1, hours=2))
    _submitted("The miracle pan", full + timedelta(hours=4, minutes=15), "It contains a forbidden word.")
    _draft(DRAFT, full + timedelta(days=2, hours=1))
    _live(_draft("Flash sale: lamps", at, until=at + timedelta(minutes=45)))
    _submitted("A new lamp from Denmark", at + timedelta(minutes=12))
    _submitted("The autumn catalogue is here", at + timedelta(seconds=75))
    waiting = Article.objects.filter(status="AUDIT_WAIT")
    stack.wait(lambda: not waiting.exists(), "the audits")


def _draft(title: str, at: datetime, body: str = BODY, until: datetime | None = None) -> int:
    return lifecycle.create(title=title, body=body, author=ANN, publish_time=at, offline_time=until).id


def _submitted(title: str, at: datetime, body: str = BODY) -> None:
    lifecycle.submit(_draft(title, at, body), actor=ANN)


def _live(article: int) -> None:
    lifecycle.submit(article, actor=ANN)
    lifecycle.approve(article, actor=ANN)
    lifecycle.publish_now(article, actor=ANN)
