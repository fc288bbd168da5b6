"""Who may look and who may change: checked on the server for every address and every button, also made by hand."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from articles_app.admin.verbs import VERBS
from articles_app.models import Article
from articles_app.states import ArticleStatus
from tests.support.articles import IN_STATE, draft, pending, row
from tests.support.clients import client_of
from tests.support.editor import ADD, EDIT, LIST, MOVE, page, person, text_of, url

pytestmark = pytest.mark.django_db

# What has to be run comes first: whatever is due is claimed together.
EVERY_STATE = list(reversed(IN_STATE.values()))


def looker() -> Client:
    return person("vera", "view")


def test_staff_who_may_look_see_everything_and_no_way_to_change_it():
    client = looker()
    for make in EVERY_STATE:
        answer = client.get(url(make()))
        assert answer.status_code == 200
        assert b'<button name="verb"' not in answer.content and b'name="title"' not in answer.content
        assert "You can view this article, but not change it." in text_of(answer)


def test_a_button_pressed_by_hand_without_the_right_is_forbidden_in_every_state():
    client = looker()
    for make in EVERY_STATE:
        article = make()
        before = row(article)
        sent = page(article) | {"title": "Mine", "offline_time": "2099-01-01T00:00"}
        for verb in sorted(VERBS):
            assert client.post(url(article), sent | {"verb": verb}).status_code == 403, verb
            assert (row(article).revision, row(article).status) == (before.revision, before.status), verb


def test_whoever_may_not_add_can_neither_open_nor_send_the_form_for_a_new_article():
    client = person("carl", "view", "change")
    assert client.get(ADD).status_code == 403
    assert client.post(ADD, {"verb": "submit", "title": "x", "base_title": ""}).status_code == 403
    assert not Article.objects.exists()


def test_many_articles_can_not_be_moved_without_the_right():
    client, article = looker(), draft()
    sent = {"chosen": f"{article}:1", "mode": "by", "hours": "1", "zone": "UTC"}
    for step in ("preview", "move"):
        assert client.post(MOVE, sent | {"step": step}).status_code == 403
    action = client.post(LIST, {"action": "move_publish_times", "_selected_action": [article]})
    assert "chosen" not in (action.context or {})
    assert row(article).revision == 1


@pytest.mark.parametrize("may", [(), ("add",)])
def test_staff_without_the_right_to_look_see_nothing(may):
    client, article = person("nora", *may), draft()
    for address in (
        LIST,
        url(article),
        f"{LIST}live/?ids={article}",
        f"{LIST}zone/",
        f"{LIST}{article}/history/",
        f"{LIST}{article}/preview/",
        f"{LIST}{article}/audit/",
        f"{LIST}preview/",
        MOVE,
    ):
        assert client.get(address).status_code == 403, address


def test_whoever_may_not_audit_can_neither_open_nor_send_a_verdict():
    client, article = person("carl", *EDIT), pending()
    sent = {"revision": str(row(article).revision), "verdict": "approve", "reason": "mine"}
    assert client.get(f"{LIST}{article}/audit/").status_code == 403
    assert client.post(f"{LIST}{article}/audit/", sent).status_code == 403
    assert b"/audit/" not in client.get(url(article)).content
    assert row(article).status == ArticleStatus.PENDING_AUDIT


def test_nobody_may_delete():
    client, article = person("ann", *EDIT, "delete"), draft()
    assert client.post(f"{LIST}{article}/delete/", {"post": "yes"}).status_code == 403
    client.post(LIST, {"action": "delete_selected", "_selected_action": [article], "post": "yes"})
    assert row(article).status == ArticleStatus.DRAFT


def test_who_is_not_staff_is_asked_to_log_in():
    client, article = client_of(get_user_model().objects.create_user("paul")), draft()
    for address in (LIST, ADD, MOVE, url(article), f"{LIST}live/?ids={article}", f"{LIST}zone/"):
        assert "/login/" in client.get(address).url
        assert "/login/" in client.post(address, {"verb": "submit"}).url


def test_a_request_without_the_csrf_token_is_refused():
    article = draft()
    person("ann", *EDIT)
    client = client_of(get_user_model().objects.get(username="ann"), enforce_csrf_checks=True)
    for address in (url(article), ADD, MOVE, f"{LIST}zone/", f"{LIST}calendar/", f"{LIST}{article}/audit/"):
        assert client.post(address, page(article) | {"verb": "submit"}).status_code == 403
    assert row(article).revision == 1


@pytest.mark.parametrize("number", ["0", "999999", "9" * 30, "abc", "1_2F2"])
def test_an_article_that_does_not_exist_is_not_found(number):
    assert looker().get(f"{LIST}{number}/change/").status_code == 404
