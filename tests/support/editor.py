"""An editor without a browser: opens an article's page, types, presses a button, and reads what was said."""

import re
from html import unescape

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.messages import get_messages
from django.test import Client

from articles_app.admin.form import EDITABLE, digest, shown_values
from articles_app.admin.zones import UTC
from articles_app.models import Article
from articles_app.states import ArticleStatus
from tests.support.clients import client_of

LIST = "/admin/articles_app/article/"
ADD = f"{LIST}add/"
MOVE = f"{LIST}move/"
EDIT = ("view", "add", "change")
RIGHTS = [f"articles_app.{one}_article" for one in EDIT]


def person(name: str = "ann", *may: str) -> Client:
    """A client logged in as staff who may do what is named, such as "change"."""
    user = get_user_model().objects.create_user(name, is_staff=True)
    for one in may:
        user.user_permissions.add(Permission.objects.get(codename=f"{one}_article"))
    return client_of(user)


def editor(name: str = "ann") -> Client:
    return person(name, *EDIT)


def url(article_id: int) -> str:
    return f"{LIST}{article_id}/change/"


def page(article_id: int) -> dict[str, str]:
    """What an article's page, in UTC, sends back with nothing typed; without drawing it, which takes longest."""
    article = Article.objects.get(id=article_id)
    shown = shown_values(article, UTC)
    sent = {"revision": str(article.revision), "zone": "UTC"}
    for name in EDITABLE[ArticleStatus(article.status)]:
        sent |= {name: shown[name], f"base_{name}": digest(shown[name])}
    return sent


def form_of(answer) -> dict[str, str]:
    assert answer.status_code == 200, answer.status_code
    form = answer.context["page"].form
    sent = {"revision": str(answer.context["page"].revision), "zone": answer.context["zone"]}
    if answer.context["page"].creation:
        sent["creation"] = answer.context["page"].creation
    for one in answer.context["fields"]:
        sent[one["name"]] = one["field"].value() or ""
        sent[f"base_{one['name']}"] = one["base"]
    assert set(form.fields) == {name.removeprefix("base_") for name in sent if name.startswith("base_")}
    return sent


def ask(client: Client, article_id: int, verb: str, typed: dict[str, str] | None = None, **more: str):
    """Open the page, unless `typed` says what is in it, and press once; the answer, which may be a question."""
    client.cookies.pop("messages", None)  # What was said before has been read.
    return client.post(url(article_id), (page(article_id) if typed is None else typed) | more | {"verb": verb})


def yes(client: Client, article_id: int, question, **typed: str):
    """Say yes to what a page asks, with what is in its form, and with what is typed into it first."""
    client.cookies.pop("messages", None)
    return client.post(url(article_id), form_of(question) | typed | {"yes": question.context["yes"]})


def press(client: Client, article_id: int, verb: str, typed: dict[str, str] | None = None, **more: str):
    """Press, and say yes to whatever is asked; the last answer."""
    answer = ask(client, article_id, verb, typed, **more)
    if answer.context and answer.context["page"].questions:
        answer = yes(client, article_id, answer)
    return answer


def new(client: Client, **typed: str) -> dict[str, str]:
    """The form for a new article, filled in."""
    given = {"title": "On time", "body": "Some text", "publish_time": "2090-01-02T09:00", "zone": "Europe/Berlin"}
    return form_of(client.get(ADD)) | given | typed


def done(answer) -> bool:
    """It was carried out, and the browser is sent on to see it."""
    return answer.status_code == 302


def said(answer) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def refused(answer) -> str:
    return answer.context["page"].refused


def text_of(answer) -> str:
    """The page's words, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", answer.content.decode())).split())
