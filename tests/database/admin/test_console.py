"""The console as a site: what it needs of a project, and what it says of it."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.handlers.base import BaseHandler
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, get_resolver, include, path
from django.urls.resolvers import URLResolver

from tasks_app.console.menu import GROUPS
from tasks_app.console.site import ConsoleSite
from tasks_app.documentation import DOCS
from tasks_app.pages.help import HELP, page_for
from tasks_app.pages.lists import OwnLookups
from tasks_app.web_checks import check_pages
from tests.support.browser import PASSWORD, person
from tests.support.clients import client_of
from tests.support.jobs import make
from tests.support.marks import commits
from tests.support.moves import MONDAY, dead, scheduled, started


def views(resolver: URLResolver, at: str = "/"):
    for one in resolver.url_patterns:
        where = at + str(one.pattern)
        if isinstance(one, URLPattern):
            yield where, one.callback
        else:
            yield from views(one, where)


@commits
def test_the_form_of_the_login_needs_no_database():
    with CaptureQueriesContext(connection) as asked:
        assert Client().get("/admin/login/").status_code == 200

    assert [one["sql"] for one in asked] == []


def test_every_page_and_endpoint_opens_its_own_transactions(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    ours = [(where, view) for where, view in views(get_resolver()) if where.startswith(("/admin/", "/api/"))]

    atomic = [where for where, view in ours if BaseHandler().make_view_atomic(view) is not view]

    assert atomic == [] and len(ours) > 60


@pytest.mark.parametrize("first", [True, False])
def test_a_host_whose_admin_has_a_name_of_its_own_is_told_to_put_it_last(settings, first):
    ours = [path("x/", ConsoleSite("punctual").urls), path("y/", include("django_punctual.urls"))]
    theirs = path("office/", admin.AdminSite("office").urls)
    settings.ROOT_URLCONF = (*ours, theirs) if first else (theirs, *ours)

    assert [one.id for one in check_pages()] == ([] if first else ["punctual.W020"])


def test_a_fault_in_the_endpoints_of_an_app_shows_in_a_check(settings, monkeypatch):
    imported = []
    monkeypatch.setattr("tasks_app.web_checks.import_module", imported.append)
    settings.ROOT_URLCONF = (path("y/", include("django_punctual.urls")),)
    check_pages()
    assert imported == ["tasks_app.api"]

    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != "inventory_app"]
    check_pages()
    assert imported == ["tasks_app.api"]


def test_this_project_has_nothing_to_be_told():
    assert check_pages() == [] and isinstance(admin.site, ConsoleSite)


def test_where_the_console_is_the_projects_admin_a_namespace_hides_nothing(settings):
    settings.ROOT_URLCONF = (path("admin/", admin.site.urls), path("x/", include(("tasks_app.urls", "ours"))))

    assert check_pages() == []


def _rows(name: str, count: int) -> None:
    """Of all that the lists below show."""
    for number in range(count):
        make(f"{name}-{number}")
        started(f"runs-{name}-{number}")
    scheduled(*(f"waits-{name}-{number}" for number in range(count)), at=MONDAY)
    dead(*(f"dead-{name}-{number}" for number in range(count)))


@pytest.mark.django_db
def test_lists_ask_the_database_as_often_for_many_rows_as_for_few():
    boss = client_of(person("boss", superuser=True))
    named = ("scheduletask", "jobdefinition", "taskbatch", "dlqentry", "auditentry", "node", "graphrun")
    pages = ["/admin/", *(f"/admin/punctual/{name}/" for name in named)]

    def asked() -> dict[str, int]:
        found = {}
        for page in pages:
            with CaptureQueriesContext(connection) as statements:
                assert boss.get(page).status_code == 200
            found[page] = len(statements)
        return found

    _rows("few", 2)
    asked()  # what a process reads once
    few = asked()
    _rows("many", 10)

    assert asked() == few


@pytest.mark.django_db
def test_an_audit_entry_has_a_page(client):
    client.force_login(person("olga", "punctual.view_scheduletask", "auth.view_user"))
    [entry] = _entries("logged in")

    shown = client.get(f"/admin/punctual/auditentry/{entry}/change/").content.decode()
    assert "user olga" in shown and "logged in" in shown
    for wrong in ("0", "x", "9" * 40, "²"):
        assert client.get(f"/admin/punctual/auditentry/{wrong}/change/").status_code == 404

    other = client_of(person("otto", "punctual.view_scheduletask"))
    assert other.get(f"/admin/punctual/auditentry/{entry}/change/").status_code == 404  # a login is not for him


def _entries(outcome: str) -> list[int]:
    from tasks_app.models import AuditEntry

    return list(AuditEntry.objects.filter(outcome=outcome).values_list("id", flat=True))


def named(resolver: URLResolver):
    for one in resolver.url_patterns:
        if isinstance(one, URLPattern):
            yield one.name
        else:
            yield from named(one)


def anchors(page: str) -> set[str]:
    """Of the headings, as a browser has them."""
    titles = re.findall(r"^#+ (.+)$", (DOCS / page).read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_has_a_page_of_the_documentation_that_is_there():
    ours = {name for name in named(get_resolver()) if name and re.match("(tasks|articles|inventory)_app_|index$", name)}

    assert {name for name in ours if page_for(name) is None} == set(), "name it in tasks_app/pages/help.py"
    for page in {*HELP.values(), *map(page_for, ours)}:
        file, _, anchor = page.partition("#")
        assert (DOCS / file).is_file(), page
        assert not anchor or anchor in anchors(file), page
    assert page_for("punctual_jobdefinition_change") == "jobs.md"
    assert page_for("punctual_job_backfill") == "backfill.md"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("rights", "lands"),
    [
        (["punctual.view_scheduletask"], "/admin/"),
        (["articles_app.view_article"], "/admin/articles_app/article/"),
        (["punctual.view_jobdefinition", "articles_app.view_article"], "/admin/punctual/jobdefinition/"),
        ([], "/admin/"),
    ],
)
def test_a_login_leads_to_what_somebody_works_with_once(rights, lands):
    name, client = person("vera", *rights).username, Client()

    def logged_in(asked: str) -> str:
        return client.post(asked, {"username": name, "password": PASSWORD}, follow=True).request["PATH_INFO"]

    *_, (to_login, _) = client.get("/", follow=True).redirect_chain
    assert to_login == "/admin/login/?next=/admin/"
    assert logged_in(to_login) == lands
    assert client.get("/admin/").status_code == 200  # the list of all pages, or the overview
    client.logout()
    assert logged_in("/admin/login/?next=/admin/password_change/") == "/admin/password_change/"


@pytest.mark.django_db
def test_a_page_leads_to_its_help_to_the_api_and_from_what_is_not_there_to_its_list(settings):
    vera = client_of(person("vera", "punctual.view_scheduletask"))

    shown = vera.get("/admin/punctual/campaign/").content.decode()
    assert 'href="/admin/help/campaigns/"' in shown and 'href="/api/v1/docs"' in shown
    assert b"how do I do something to many tasks" in vera.get("/admin/help/campaigns/").content
    for missing in ("nothing", "openapi"):
        assert vera.get(f"/admin/help/{missing}/").status_code == 404
    gone = vera.get("/admin/punctual/campaign/77777/change/")
    assert gone.status_code == 404 and b'href="/admin/punctual/campaign/"' in gone.content
    settings.PUNCTUAL = settings.PUNCTUAL | {"DOCS_URL": "https://docs.example.com/punctual/"}
    assert (
        'href="https://docs.example.com/punctual/campaigns.md"'
        in vera.get("/admin/punctual/campaign/").content.decode()
    )
    assert Client().get("/admin/help/campaigns/").status_code == 302


@pytest.mark.django_db
def test_lists_of_djangos_are_called_by_what_they_list():
    boss = client_of(User.objects.create_superuser("boss"))
    lists = {"articles_app/article": "Articles", "inventory_app/product": "Products", "auth/user": "Users"}
    for where, title in lists.items():
        shown = boss.get(f"/admin/{where}/").content.decode()
        assert re.search("<title>(.*?)</title>", shown, re.DOTALL)[1].strip() == f"{title} | Punctual"
    chinese = boss.get("/admin/articles_app/article/", headers={"accept-language": "zh"}).content.decode()
    assert "<title> 文章" in chinese


@pytest.mark.django_db
def test_the_palette_finds_pages_that_no_menu_has_for_those_who_may_open_them():
    def found(client, word: str) -> str:
        return client.get("/admin/search/", {"s": word, "extended": "1"}).content.decode()

    vera = client_of(person("vera", "punctual.view_scheduletask"))
    edith = client_of(person("edith", "articles_app.view_article"))

    assert 'href="/admin/articles_app/article/calendar/"' in found(edith, "calendar of")
    assert "articles_app" not in found(vera, "calendar of")
    assert 'href="/admin/"' in found(vera, "overview") and 'href="/admin/"' not in found(edith, "overview")
    for name in ("campaigns", "dead letters", "audit entries", "tasks", "batches"):
        assert 'href="/admin/punctual/' in found(vera, name), name


@pytest.mark.django_db
def test_every_page_of_ours_is_in_the_menu_once_and_only_for_those_who_may_open_it():
    ours = {model._meta.object_name for model in admin.site._registry if model._meta.app_label == "punctual"}
    placed = [model for models in GROUPS.values() for model in models]
    assert all(isinstance(admin.site.get_model_admin(model), OwnLookups) for model in (User, Group))
    assert sorted(placed) == sorted(ours)

    page = client_of(person("vera", "punctual.view_scheduletask")).get("/admin/punctual/scheduletask/")

    menu = {
        group.get("title", ""): [item["title"] for item in group["items"]]
        for group in page.context["sidebar_navigation"]
    }
    assert menu[""][0] == "Overview" and menu["Tasks and jobs"][0] == "Tasks"
    assert "Users" not in str(menu) and "Articles" not in str(menu)
    [ours] = client_of(person("boss", superuser=True)).get("/admin/punctual/").context["app_list"]
    assert {"Tasks", "Batches"} <= {str(model["name"]) for model in ours["models"]} and str(ours["name"]) == "Punctual"
    active = [item["link"] for group in page.context["sidebar_navigation"] for item in group["items"] if item["active"]]
    assert active == ["/admin/punctual/scheduletask/"]
