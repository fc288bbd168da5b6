"""The templates of the console's pages, whatever TEMPLATES of the project say.

Those in `over` come first: they extend the ones of the same name, and only here. Then ours, then django-unfold's, then
Django's, then those of the other apps. In the project's own engine Django's come before django-unfold's, so its admin
stays as it is; and what a project puts over Django's (`admin/base_site.html`) stays out of the console. Its own folders
(DIRS) come last, for pages that it has added.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from django.template import TemplateDoesNotExist, engines
from django.template.backends.django import DjangoTemplates, Template
from django.template.context import make_context
from django.template.response import SimpleTemplateResponse
from django.utils.safestring import SafeString

from tasks_app.pages.language import speaking

OVER = Path(__file__).parent / "over"
FIRST = ("punctual", "unfold", "django.contrib.admin")
LIBRARIES = {
    "punctual": "tasks_app.templatetags.punctual",
    "punctual_typed": "tasks_app.templatetags.punctual_typed",
}
PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]


class Page(Template):
    """Its numbers stay as they are: with the thousands separator of a project, the id in a form would be two others."""

    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        made = make_context(context, request, autoescape=self.backend.engine.autoescape)
        made.use_l10n = False
        with speaking(request):
            return self.template.render(made)


@cache
def engine() -> DjangoTemplates:
    first = [apps.get_app_config(name.rpartition(".")[2]).path + "/templates" for name in FIRST]
    folders_of_apps = [f"{app.path}/templates" for app in apps.get_app_configs()]
    others = [one for one in folders_of_apps if one not in first and Path(one).is_dir()]
    theirs = [str(folder) for one in engines.all() if isinstance(one, DjangoTemplates) for folder in one.dirs]
    options = {"context_processors": PROCESSORS, "libraries": LIBRARIES}
    folders = [str(OVER), *first, *others, *theirs]
    return DjangoTemplates({"NAME": "punctual", "APP_DIRS": False, "DIRS": folders, "OPTIONS": options})


def find(names: str | Sequence[str]) -> Template:
    """The first of these that there is."""
    tried = []
    for name in [names] if isinstance(names, str) else names:
        try:
            return Page(engine().get_template(name).template, engine())
        except TemplateDoesNotExist as error:
            tried.append(error)
    raise TemplateDoesNotExist(", ".join(error.args[0] for error in tried), chain=tried)


def in_console(response: HttpResponse) -> HttpResponse:
    """An answer that is not rendered yet is rendered with our templates."""
    if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
        named = response.template_name
        if isinstance(named, str | list | tuple):
            response.template_name = find(named)
    return response
