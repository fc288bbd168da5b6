"""What was typed survives a login that ran out: it is back after the next one, for whoever typed it only."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.test import Client

from articles_app.models import Article
from articles_app.states import ArticleStatus
from tests.support.articles import approved, draft, row, status
from tests.support.clients import client_of
from tests.support.editor import ADD, MOVE, ask, editor, form_of, new, page, said, text_of, url

pytestmark = pytest.mark.django_db

BACK = "What you typed is back"


def _user(name: str):
    return get_user_model().objects.get(username=name)


def with_password(name: str) -> None:
    user = _user(name)
    user.set_password("secret")
    user.save()


def sent_by(client: Client, path: str) -> dict[str, str]:
    """Everything hidden that the page would send besides its fields."""
    content = client.get(path).content.decode()
    return dict(re.findall(r'name="(typed_by)" value="([^"]*)"', content))


def log_in(client: Client, answer, name: str = "ann"):
    """By the form, at the address that an answer leads to; what is shown then."""
    assert "/login/" in answer.url
    with_password(name)
    client.cookies.pop("messages", None)
    return client.post(answer.url, {"username": name, "password": "secret"}, follow=True)


def expire(client: Client) -> None:
    Session.objects.all().delete()


def test_a_new_article_that_was_typed_is_back_after_logging_in_again():
    ann = editor("ann")
    typed = new(ann, title="Long work") | sent_by(ann, ADD)
    expire(ann)

    shown = log_in(ann, ann.post(ADD, typed | {"verb": "submit"}))

    assert BACK in text_of(shown) and not Article.objects.exists()
    assert form_of(shown)["title"] == "Long work" and form_of(shown)["creation"] == typed["creation"]
    assert ann.post(ADD, form_of(shown) | {"verb": "save"}).status_code == 302
    assert [article.title for article in Article.objects.all()] == ["Long work"]


def test_an_edit_that_was_typed_is_back_and_nobody_is_overwritten_by_it():
    ann, bob, article = editor("ann"), editor("bob"), draft()
    typed = page(article) | {"body": "Ann's text"} | sent_by(ann, url(article))
    Session.objects.filter(session_key=ann.session.session_key).delete()
    ask(bob, article, "save", page(article) | {"title": "Bob's title"})

    shown = log_in(ann, ann.post(url(article), typed | {"verb": "save"}))

    assert (form_of(shown)["title"], form_of(shown)["body"]) == ("Bob's title", "Ann's text")
    assert "Text edited by bob" in text_of(shown) and BACK in text_of(shown)
    assert row(article).body == "A body"


def test_it_is_shown_once():
    ann, article = editor("ann"), draft()
    typed = page(article) | {"title": "Typed"} | sent_by(ann, url(article))
    expire(ann)
    log_in(ann, ann.post(url(article), typed | {"verb": "save"}))
    again = ann.get(url(article))
    assert form_of(again)["title"] == "A title" and BACK not in text_of(again)


def test_somebody_else_who_logs_in_gets_nothing_of_it():
    ann, article = editor("ann"), draft()
    editor("bob")
    typed = page(article) | {"title": "Ann's secret"} | sent_by(ann, url(article))
    expire(ann)
    shown = log_in(ann, ann.post(url(article), typed | {"verb": "save"}), "bob")
    assert "Ann's secret" not in shown.content.decode() and form_of(shown)["title"] == "A title"
    assert all("typed" not in session.get_decoded() for session in Session.objects.all())


@pytest.mark.parametrize("signed", [None, "", "x", "1:1tabcd:forged"])
def test_nothing_is_kept_of_a_form_that_was_not_ours(signed):
    client, article = Client(), draft()
    given = {} if signed is None else {"typed_by": signed}
    answer = client.post(url(article), {"title": "x" * 10_000, "verb": "save"} | given)
    assert "/login/" in answer.url and not Session.objects.exists()


def test_a_form_whose_csrf_token_is_of_an_earlier_login_comes_back_filled_in():
    """Logged in anew in another tab: the old page's token is refused, and its text must not be lost."""
    editor("ann")
    with_password("ann")
    client = Client(enforce_csrf_checks=True)
    client.force_login(_user("ann"))
    article = approved()
    typed = page(article) | {"title": "Typed"} | sent_by(client, url(article))

    answer = client.post(url(article), typed | {"verb": "save", "csrfmiddlewaretoken": "a" * 64})

    assert (answer.status_code, answer.url) == (302, url(article))
    shown = client.get(answer.url)
    assert form_of(shown)["title"] == "Typed" and BACK in text_of(shown)
    assert status(article) == ArticleStatus.AUDIT_SUCCESS


def test_a_forged_request_keeps_nothing_and_is_refused():
    editor("ann"), editor("eve")
    eve, ann = Client(), Client(enforce_csrf_checks=True)
    eve.force_login(_user("eve"))
    ann.force_login(_user("ann"))
    article = draft()
    forged = {"title": "Eve's", "verb": "save", "csrfmiddlewaretoken": "a" * 64} | sent_by(eve, url(article))
    assert ann.post(url(article), forged).status_code == 403
    assert form_of(ann.get(url(article)))["title"] == "A title"


def test_a_bulk_move_is_back_as_its_preview():
    ann, article = editor("ann"), approved()
    sent = {"chosen": f"{article}:{row(article).revision}", "zone": "UTC", "mode": "by", "direction": "later"}
    shown = ann.post(MOVE, sent | {"hours": "1", "step": "preview"})
    sent |= dict(re.findall(r'name="(typed_by)" value="([^"]*)"', shown.content.decode()))
    expire(ann)
    shown = log_in(ann, ann.post(MOVE, sent | {"hours": "3", "step": "move", "shown": "x"}))
    assert BACK in text_of(shown) and shown.context["preview"]["moves"] == 1
    assert shown.context["form"]["hours"].value() == "3"


def test_a_job_that_was_typed_is_back():
    add = "/admin/punctual/jobdefinition/add/"
    olga = get_user_model().objects.create_user("olga", is_staff=True)
    olga.user_permissions.set(Permission.objects.filter(codename__endswith="_jobdefinition"))
    client = client_of(olga)
    typed = {"name": "nightly", "task_type": "NOOP", "cron": "0 3 * * *"} | sent_by(client, add)
    expire(client)
    shown = log_in(client, client.post(add, typed), "olga")
    assert BACK in text_of(shown) and shown.context["form"]["cron"].value() == "0 3 * * *"


def test_a_page_says_that_nothing_was_saved():
    ann, article = editor("ann"), draft()
    typed = page(article) | {"title": "Typed"} | sent_by(ann, url(article))
    expire(ann)
    log_in(ann, ann.post(url(article), typed | {"verb": "save"}))
    assert row(article).title == "A title" and said(ann.get(url(article))) == []
