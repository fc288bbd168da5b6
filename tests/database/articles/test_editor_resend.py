"""A form for a new article that is sent twice makes one article, and the second answer leads to it."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from articles_app import lifecycle
from articles_app.errors import AlreadyCreated
from articles_app.models import Article, ArticleEvent
from articles_app.states import ArticleStatus
from tests.support.articles import MONDAY, history, row
from tests.support.editor import ADD, done, editor, form_of, new, refused, said, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    return editor("ann")


@pytest.mark.parametrize("verbs", [("save", "save"), ("submit", "submit"), ("save", "submit")])
def test_a_form_that_is_sent_again_leads_to_the_article_that_it_made_and_says_so(ann, verbs):
    typed = new(ann)
    first, second = (ann.post(ADD, typed | {"verb": verb}) for verb in verbs)

    [article] = Article.objects.all()
    assert first.url == second.url == url(article.id)
    assert said(second)[-1] == "This form was sent before and created this article; nothing was created twice."
    assert history(article.id) == (["create"] if verbs[0] == "save" else ["create", "submit"])


def test_another_form_with_the_same_text_asks_whether_a_second_article_is_meant(ann):
    """Back makes the page anew, with another token, and the browser fills in what was typed."""
    ann.post(ADD, new(ann) | {"verb": "save"})
    [first] = Article.objects.all()

    question = ann.post(ADD, new(ann) | {"verb": "save"})

    assert [one.words for one in question.context["page"].questions] == [
        f"You have already created article {first.id} with the same text and times. Create a second one?"
    ]
    assert Article.objects.count() == 1
    assert done(ann.post(ADD, form_of(question) | {"yes": question.context["yes"]})) and Article.objects.count() == 2


@pytest.mark.parametrize("other", [{"title": "Another"}, {"publish_time": "2090-01-02T10:00"}, {"zone": "UTC"}])
def test_another_article_is_made_without_a_question(ann, other):
    for typed in (new(ann), new(ann, **other)):
        assert done(ann.post(ADD, typed | {"verb": "save"}))


def test_the_same_text_of_somebody_else_or_of_long_ago_is_no_question(ann):
    ann.post(ADD, new(ann) | {"verb": "save"})
    bob = editor("bob")
    assert done(bob.post(ADD, new(bob) | {"verb": "save"}))
    Article.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert done(ann.post(ADD, new(ann) | {"verb": "save"}))


def test_another_text_in_a_form_that_was_sent_is_kept_and_made_an_article_by_the_next_press(ann):
    """Back, type something else, send: that is no resend, and must not vanish."""
    typed = new(ann)
    ann.post(ADD, typed | {"verb": "save"})
    [first] = Article.objects.all()

    answer = ann.post(ADD, typed | {"title": "The next one", "verb": "save"})

    assert f"has already created article {first.id}" in refused(answer) and url(first.id) in answer.content.decode()
    assert form_of(answer)["title"] == "The next one" and Article.objects.count() == 1
    assert done(ann.post(ADD, form_of(answer) | {"verb": "save"}))
    assert list(Article.objects.order_by("id").values_list("title", flat=True)) == ["On time", "The next one"]


@pytest.mark.parametrize("token", [None, "", "x", "1" * 500])
def test_a_form_without_a_readable_token_makes_nothing_and_gets_one(ann, token):
    typed = {name: value for name, value in new(ann).items() if name != "creation"}
    answer = ann.post(ADD, typed | {"verb": "save"} | ({} if token is None else {"creation": token}))
    assert "press the button again" in refused(answer) and not Article.objects.exists()
    assert form_of(answer)["title"] == "On time"
    assert done(ann.post(ADD, form_of(answer) | {"verb": "save"}))


def test_a_refused_form_keeps_its_token(ann):
    typed = new(ann)
    answer = ann.post(ADD, typed | {"title": "", "verb": "save"})
    assert form_of(answer)["creation"] == typed["creation"]


def test_code_may_create_without_a_token_and_with_one_only_once():
    values = {"title": "A title", "body": "A body", "author": "ann", "publish_time": MONDAY}
    lifecycle.create(**values), lifecycle.create(**values)
    token = uuid4()
    made = lifecycle.create(**values, token=token)
    with pytest.raises(AlreadyCreated) as error:
        lifecycle.create(**values, token=token)
    assert (error.value.article_id, error.value.same) == (made.id, True)
    with pytest.raises(AlreadyCreated) as error:
        lifecycle.create(**values | {"title": "Another"}, token=token)
    assert not error.value.same and f"article {made.id}" in str(error.value)
    assert Article.objects.count() == 3 == ArticleEvent.objects.count()


def test_a_resend_after_the_article_has_moved_on_changes_nothing_of_it(ann):
    typed = new(ann)
    answer = ann.post(ADD, typed | {"verb": "submit"})
    article = int(answer.url.split("/")[-3])
    lifecycle.withdraw(article, actor="bob")
    ann.post(ADD, typed | {"verb": "submit"})
    assert row(article).status == ArticleStatus.DRAFT
