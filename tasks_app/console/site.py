"""The site itself: which one it is, how it looks, and its first page."""

import time
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import PasswordChangeView
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.translation import get_language_info, gettext
from django.views.i18n import set_language
from unfold.dataclasses import Favicon, SearchResult
from unfold.sites import UnfoldAdminSite

from tasks_app.database import own_transactions
from tasks_app.documentation import DOCS
from tasks_app.pages.extras import is_project_admin
from tasks_app.pages.help import help_url, places
from tasks_app.pages.language import CHINESE, ENGLISH, is_bilingual
from tasks_app.pages.links import SITE, api_docs

from .guard import guard
from .live import BARE, WHOLE, is_look, topics_of
from .login import LoginForm, PasswordForm
from .looks import shared
from .menu import grouped, menu, under_one_name
from .scope import choose, place_of
from .streams import no_stream, stream

TITLE = "Punctual"
PAGES = "tasks_app.admin.register"  # by name: they are above this
LONGEST_SEARCH = 200
LANDS = "punctual_lands"  # in a session that has just begun, and did not begin on another page
LANDINGS = ("ScheduleTask", "JobDefinition")  # of those who have no overview, the first that they may open
LANGUAGES = [{"code": code, "name_local": get_language_info(code)["name_local"]} for code in (ENGLISH, CHINESE)]


class ConsoleSite(UnfoldAdminSite):
    settings_name = "PUNCTUAL_CONSOLE"  # not UNFOLD: those are the looks of the project's own admin
    index_title = TITLE
    index_template = "tasks_app/index.html"
    login_form = LoginForm
    # tasks_app.admin gives these: what the first page shows, what the palette finds, and what stands above every page.
    overview: Callable[[HttpRequest], dict[str, Any]] | None = None
    finder: Callable[[HttpRequest, str], list[SearchResult]] | None = None
    banner: Callable[[HttpRequest], list[Any]] | None = None

    def find_pages(self) -> None:
        """Import what registers pages here. Not when the process begins: beats, workers and commands have no pages, and
        to import all of them takes a third of their start."""
        if is_project_admin():
            admin.autodiscover()
        import_module(PAGES)  # last: it looks after the pages of Django's own apps, too

    def get_urls(self) -> list[URLPattern | URLResolver]:
        self.find_pages()
        tenant = path("tenant/", self.admin_view(choose), name="tenant")
        streams = path("stream/", self.stream, name="stream")
        help_ = path("help/<slug:page>/", self.admin_view(self.help), name="help")
        found = [path("language/", set_language, name="language"), tenant, streams, help_, *super().get_urls()]
        guard(self, found)
        return own_transactions(found)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[dict[str, Any]]:
        if app_label is not None:
            return under_one_name(super().get_app_list(request, app_label))
        if not hasattr(request, "_punctual_pages"):  # asked for by the menu, the first page and others
            request._punctual_pages = grouped(super().get_app_list(request))
        pages: list[dict[str, Any]] = request._punctual_pages
        return pages

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        """A project may have a menu of its own, in PUNCTUAL_CONSOLE["SIDEBAR"]["navigation"]."""
        return super().get_sidebar_list(request) or menu(request, self.get_app_list(request))

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        banner = self.banner(request) if self.banner and request.user.is_authenticated else []
        if is_look(request):
            return {"base": BARE, "banner": banner}
        icon = Favicon(href=static("tasks_app/icon.svg"), rel="icon", type="image/svg+xml")
        return {
            **super().each_context(request),
            "site_title": TITLE,
            "site_header": TITLE,
            "site_symbol": "schedule",
            "site_favicons": [icon],
            "site_url": request.META.get("SCRIPT_NAME") or "/",
            "base": WHOLE,
            "banner": banner,
            "place": place_of(request),
            "topics": topics_of(request) if request.user.is_authenticated else (),
            "show_languages": is_bilingual(),
            "languages_list": LANGUAGES,
            "languages_action": reverse("admin:language", current_app=self.name),
            "help_url": help_url(request.resolver_match and request.resolver_match.url_name),
            "api_docs": api_docs(),
        }

    @login_not_required  # as Django says of its own, whatever a project's middleware asks for elsewhere
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        answer = super().login(request, extra_context)
        if request.method == "POST" and getattr(answer, "url", "") == reverse("admin:index", current_app=self.name):
            request.session[LANDS] = True
        return answer

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """As unfold has it, but for the form."""
        view = PasswordChangeView.as_view(
            form_class=partial(PasswordForm, request=request),
            success_url=reverse("admin:password_change_done", current_app=self.name),
            template_name=self.password_change_template or PasswordChangeView.template_name,
            extra_context=self.each_context(request) | (extra_context or {}),
        )
        return view(request)

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if is_look(request):
            return self._look(request)
        shown = self.overview(request) if self.overview else {}
        lands = request.session.pop(LANDS, False)
        if not shown:
            if lands and (where := self._landing(request)):
                return HttpResponseRedirect(where)
            shown = {"topics": ()}  # a list of pages, which changes with one's rights
        return super().index(request, shown | (extra_context or {}))

    @shared
    def _look(self, request: HttpRequest) -> HttpResponse:
        shown = self.overview(request) if self.overview else {}
        return TemplateResponse(request, self.index_template, self.each_context(request) | shown)

    def _landing(self, request: HttpRequest) -> str | None:
        """Where somebody goes on after the login who has no overview: editors to their articles, say."""
        models = [model for app in self.get_app_list(request) for model in app["models"] if model["admin_url"]]
        pages = {model["object_name"]: model["admin_url"] for model in models}
        return next((pages[name] for name in (*LANDINGS, *pages) if name in pages), None)

    def help(self, request: HttpRequest, page: str) -> HttpResponse:
        """A page of the documentation."""
        pages = sorted(one.stem for one in DOCS.glob("*.md"))
        if page not in pages:
            raise Http404(gettext("There is no page {page!r} of the documentation here.").format(page=page[:40]))
        text = (DOCS / f"{page}.md").read_text()
        title = gettext("Documentation: {page}").format(page=text.partition("\n")[0].lstrip("# "))
        context = self.each_context(request) | {"title": title, "text": text, "pages": pages, "topics": ()}
        return TemplateResponse(request, "tasks_app/help.html", context)

    def stream(self, request: HttpRequest) -> HttpResponse:
        """Nobody is sent to the login from here: a browser would read that page as a stream, and complain."""
        return stream(request) if self.has_permission(request) else no_stream()

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Pages by their name, then what `finder` finds. unfold would keep its answers in the project's cache, the same
        for all sites of a user."""
        began = time.perf_counter()
        asked = request.GET.get("s", "").strip()[:LONGEST_SEARCH].replace("\0", "")
        word = asked.lower()
        found = [
            SearchResult(str(model["name"]), app["name"], model["admin_url"], "tag")
            for app in self.get_app_list(request)
            for model in app["models"]
            if word and word in f"{app['name']}\n{model['name']}".lower()
        ]
        found += [
            SearchResult(words, TITLE, address, "tag")
            for words, address in places(request)
            if word and word in words.lower()
        ]
        if asked and self.finder:
            found += self.finder(request, asked)
        pages = Paginator(found, max(len(found), 1))
        context = {"page_obj": pages, "results": pages.page(1), "page_counter": 0}
        context["execution_time"] = time.perf_counter() - began
        name = "command_results" if "extended" in request.GET else "search_results"
        answer = TemplateResponse(request, f"unfold/helpers/{name}.html", context)
        answer["HX-Trigger"] = "search"
        return answer


@cache
def console() -> ConsoleSite:
    """The project's own admin where that is a console; else a site beside it."""
    return admin.site if is_project_admin() else ConsoleSite(SITE)
