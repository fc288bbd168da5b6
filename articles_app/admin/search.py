"""Finds articles by the words of their titles, whatever their number, without reading every title."""

from django.contrib.postgres.search import SearchQuery
from django.db.models import QuerySet

from articles_app.models import TITLE_WORDS, Article

FOUND = 1_000  # at most; nobody looks through more
READ = 100_000  # the newest titles, which are read where no word begins so
WORDS = 10  # of what was typed; more say nothing


def search(queryset: QuerySet, typed: str) -> list[int]:
    """The newest finds: titles with words that begin so, in any order; if there are none, newer titles that contain it.

    The first goes by an index, however many titles there are. The second is for parts of words, and for scripts that
    put no space between them.
    """
    words = typed.replace("\0", "").split()[:WORDS]
    return _beginning(queryset, words) or _containing(queryset, words)


def _beginning(queryset: QuerySet, words: list[str]) -> list[int]:
    terms = [f"'{_quoted(word)}':*" for word in words if any(char.isalnum() for char in word)]
    if len(terms) < len(words):
        return []  # signs alone are in no index
    query = SearchQuery(" & ".join(terms), search_type="raw", config="simple")
    return _newest(queryset.annotate(title_words=TITLE_WORDS).filter(title_words=query))


def _quoted(word: str) -> str:
    return word.replace("\\", "\\\\").replace("'", "''")


def _containing(queryset: QuerySet, words: list[str]) -> list[int]:
    oldest = Article.objects.order_by("-id").values_list("id", flat=True)[READ : READ + 1].first()
    for word in words:
        queryset = queryset.filter(title__icontains=word)
    return _newest(queryset.filter(id__gt=oldest or 0))


def _newest(queryset: QuerySet) -> list[int]:
    return list(queryset.order_by("-id").values_list("id", flat=True)[:FOUND])
