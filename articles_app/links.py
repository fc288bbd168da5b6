"""The way from an article's tasks to the article, for people who look at tasks."""

from django.urls import reverse

from django_punctual import Link, register_link

from .units import AUDIT, OFFLINE, PUBLISH


def article_link(key: str) -> Link:
    return Link(reverse("admin:articles_app_article_change", args=[key]), f"Article {key}")


for _type in (AUDIT, PUBLISH, OFFLINE):
    register_link(_type, article_link)
