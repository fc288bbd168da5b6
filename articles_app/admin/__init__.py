"""The editor's pages. Every write goes through articles_app.lifecycle, with the revision that the editor has read."""

from django.utils.translation import gettext_lazy

from django_punctual.pages import PLACES, Place, answers

from .list import ArticleAdmin

__all__ = ["ArticleAdmin"]

answers("articles_app_", "articles.md")
answers("articles_app_article_calendar", "admin.md#the-calendar")
PLACES.append(
    Place(
        "articles_app_article_calendar",
        gettext_lazy("Calendar of articles"),
        lambda request: request.user.has_perm("articles_app.view_article"),
    )
)
