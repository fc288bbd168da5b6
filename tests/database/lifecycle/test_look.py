"""Rows of an app's own, given as a queryset, beside what is scheduled for them: what is answered, and at what cost."""

import pytest
from django.db import connection
from django.utils import timezone

from articles_app.models import Article
from articles_app.states import ArticleStatus
from django_punctual import schedule, schedule_many
from django_punctual.compensation import compare_keys, differing_rows, waiting_keys
from tasks_app.models import ScheduleTask
from tests.support.articles import MONDAY, TUESDAY

pytestmark = pytest.mark.django_db
ODD = "100 % of '%s' and %(key)s; -- \\ \"--rows\""


def articles(count: int, status: ArticleStatus = ArticleStatus.DRAFT, **fields: object) -> list[int]:
    now = timezone.now()
    values = {"title": "A title", "publish_time": MONDAY, "published_at": now, "offline_time": None} | fields
    made = Article.objects.bulk_create(Article(status=status, **values) for _ in range(count))
    return [article.id for article in made]


def many_articles(count: int, like: int) -> None:
    """In one statement: more than is worth making one by one."""
    fields = [field.column for field in Article._meta.fields if not field.primary_key]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO article ({', '.join(fields)}) SELECT {', '.join(fields)} FROM article,"
            " generate_series(1, %s) WHERE id = %s",
            [count, like],
        )


def test_a_row_differs_without_a_task_or_with_another_time():
    without, other, same = articles(3)
    schedule("T_QUIET", other, at=TUESDAY)
    schedule("T_QUIET", same, at=MONDAY)

    found = differing_rows("T_QUIET", Article.objects.all(), at="publish_time")

    assert {key: one.live for key, one in found.items()} == {str(without): False, str(other): True}
    assert set(differing_rows("T_QUIET", Article.objects.all())) == {str(without)}


def test_values_of_a_queryset_mean_nothing_in_sql():
    [odd] = articles(1, title=ODD)
    articles(1)
    rows = Article.objects.filter(title=ODD, title__contains="%")
    schedule("T_PLAIN", odd, at=MONDAY)

    assert set(differing_rows("T_QUIET", rows, at="publish_time")) == {str(odd)}
    assert waiting_keys("T_PLAIN", rows) == (1, [str(odd)])
    assert compare_keys("T_QUIET", rows).not_waiting == [str(odd)]


def test_a_queryset_may_be_ordered_and_sliced():
    articles(3)
    last = articles(2, publish_time=TUESDAY)

    assert set(differing_rows("T_QUIET", Article.objects.order_by("-publish_time")[:2])) == {str(id_) for id_ in last}


@pytest.mark.parametrize("none", [Article.objects.none(), Article.objects.filter(id__in=[])], ids=["none", "no ids"])
def test_a_queryset_of_no_rows_has_none(none):
    schedule("T_QUIET", "a", at=MONDAY)

    assert differing_rows("T_QUIET", none, at="publish_time") == {}
    assert differing_rows("T_QUIET", none) == {}
    assert waiting_keys("T_QUIET", none) == (1, [])
    assert compare_keys("T_QUIET", none).unwanted == ["a"]


def test_keys_that_are_no_numbers_are_among_no_rows_with_numbers():
    [article] = articles(1)
    schedule_many("T_QUIET", [{"key": key} for key in (article, f"{article}x", "a", "9" * 30)], at=MONDAY)

    assert waiting_keys("T_QUIET", Article.objects.all()) == (4, [str(article)])


def test_keys_may_be_in_a_field_of_text():
    schedule_many("T_QUIET", [{"key": key} for key in ("a", "b")], at=MONDAY)
    schedule("T_PLAIN", "b", at=MONDAY)
    rows = ScheduleTask.objects.filter(task_type="T_PLAIN")

    assert waiting_keys("T_QUIET", rows, key="biz_key") == (2, ["b"])
    assert compare_keys("T_QUIET", rows, key="biz_key").unwanted == ["a"]


def test_a_walk_reads_what_its_partial_index_has_however_often_it_comes():
    [published] = articles(1, ArticleStatus.PUBLISHED)
    many_articles(4_000, published)
    waiting = articles(5, ArticleStatus.AUDIT_SUCCESS)
    many_articles(4_000, published)
    page = Article.objects.filter(status=ArticleStatus.AUDIT_SUCCESS, id__gt=0, id__lte=waiting[-1] + 4_000)

    for _ in range(8):
        with Reads() as read:
            assert len(differing_rows("T_QUIET", page, at="publish_time")) == 5
        assert read.rows < 50


def test_what_waits_is_looked_up_among_rows_and_not_the_other_way_round():
    live = articles(5, ArticleStatus.PUBLISHED)
    many_articles(8_000, live[0])
    schedule_many("T_QUIET", [{"key": id_} for id_ in live], at=MONDAY)

    with Reads() as read:
        assert waiting_keys("T_QUIET", Article.objects.filter(status=ArticleStatus.PUBLISHED))[0] == 5

    assert read.rows < 50


class Reads:
    """How many rows of the articles' table are read meanwhile."""

    def __enter__(self) -> "Reads":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE article; ANALYZE punctual_task")
        self._before = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        self.rows = self._read() - self._before

    def _read(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0)"
                " FROM pg_stat_xact_user_tables WHERE relid = 'article'::regclass"
            )
            return cursor.fetchone()[0]
