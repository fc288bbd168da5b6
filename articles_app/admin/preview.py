"""An article as its readers will see it: as it is saved, or as it is typed in a form that nobody has sent yet."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from articles_app.models import TITLE_LENGTH, Article
from django_punctual.pages import take_back

from .form import BODY_LENGTH

# A project's own template comes first; ours is for projects that have none.
TEMPLATES = ["articles/reader.html", "articles_app/reader.html"]


def saved(request: HttpRequest, article: Article) -> HttpResponse:
    return _shown(request, article, typed=False)


def typed(request: HttpRequest) -> HttpResponse:
    """What a form sends here is shown, and written nowhere."""
    sent = request.POST if request.method == "POST" else take_back(request)
    if sent is None:
        return HttpResponseRedirect(reverse("admin:articles_app_article_changelist"))
    text = {"title": sent.get("title", "")[:TITLE_LENGTH], "body": sent.get("body", "")[:BODY_LENGTH]}
    return _shown(request, Article(author=request.user.get_username(), **text), typed=True)


def _shown(request: HttpRequest, article: Article, *, typed: bool) -> HttpResponse:
    return TemplateResponse(request, TEMPLATES, {"article": article, "typed": typed})
