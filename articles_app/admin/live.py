"""The small answer that open pages ask for every few seconds: what became of these articles."""

from django.http import HttpRequest, JsonResponse

from articles_app.models import Article

from .hints import Hint, badge_of, hints
from .times import database_now
from .zones import zone_of

MOST = 200
FIELDS = ("id", "title", "status", "revision", "publish_time", "offline_time", "published_at", "audit_reason")


def live(request: HttpRequest) -> JsonResponse:
    """GET ?ids=1,2,3: their state, and what to say of them now and at their next moment."""
    try:
        ids = [int(part) for part in request.GET.get("ids", "").split(",") if part]
    except ValueError:
        return JsonResponse({"error": "ids must be whole numbers, separated by commas."}, status=400)
    if len(ids) > MOST or any(not 0 < id_ < 2**63 for id_ in ids):
        return JsonResponse({"error": f"give at most {MOST} ids, each above 0."}, status=400)
    now = database_now()
    articles = list(Article.objects.filter(id__in=ids).only(*FIELDS))
    found = hints(articles, zone_of(request).zone, now)
    told = [_told(article, found[article.id]) for article in articles]
    return JsonResponse({"now": now.timestamp(), "articles": told})


def _told(article: Article, hint: Hint) -> dict[str, object]:
    badge, label = badge_of(article, hint)
    return {
        "id": article.id,
        "revision": article.revision,
        "status": article.status,
        "badge": badge,
        "label": label,
        "kind": hint.kind,
        "before": hint.before,
        "at": hint.at and hint.at.timestamp(),
        "after": hint.after,
    }
