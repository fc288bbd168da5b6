"""What we use of django-unfold that it never promised."""

import ast
import inspect
import re
from hashlib import sha256
from pathlib import Path

import unfold
from django.contrib.auth.models import User
from django.test import RequestFactory
from unfold.admin import checkbox
from unfold.dataclasses import Favicon
from unfold.sites import UnfoldAdminSite
from unfold.templatetags import unfold_list
from unfold.utils import display_for_label

import tasks_app

UNFOLD = Path(unfold.__file__).parent


def test_unfold_takes_its_looks_from_the_context(settings):
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_active=True)
    settings.UNFOLD = {"SITE_TITLE": "Theirs"}

    class Site(UnfoldAdminSite):
        settings_name = "NOBODYS"

    shown = Site("admin").each_context(request)

    assert shown["site_title"] is None and shown["site_symbol"] is None and shown["site_favicons"] == []
    assert UnfoldAdminSite("admin").each_context(request)["site_title"] == "Theirs"
    assert Favicon(href="/icon.svg", rel="icon", type="image/svg+xml").href == "/icon.svg"


def test_unfold_has_the_languages_of_the_context_in_its_menu():
    menu, form = ((UNFOLD / f"templates/unfold/helpers/language_{one}.html").read_text() for one in ("switch", "form"))

    assert "{% if show_languages %}" in menu and "{% for language in languages_list %}" in menu
    assert "{{ languages_action }}" in form and "{{ language.code }}" in form and "{{ language.name_local }}" in form


def test_unfold_has_the_templates_that_ours_stand_in_for():
    """If one has changed, compare it with ours in tasks_app/console/over, and write its new digest down here."""
    ours = Path(tasks_app.__file__).parent / "console/over"
    found = {}
    for path in sorted(ours.rglob("*.html")):
        name = path.relative_to(ours).as_posix()
        if name != "admin/base_site.html":  # it only adds to theirs
            found[name] = sha256((UNFOLD / "templates" / name).read_bytes()).hexdigest()[:12]

    assert found == {
        "admin/base.html": "2ce9250b3c64",
        "unfold/helpers/command.html": "ae6ce324d853",
        "unfold/helpers/navigation_header.html": "35139b9d9458",
        "unfold/helpers/navigation_user.html": "4c9ba58b3f21",
        "unfold/helpers/theme_switch.html": "c8e659df65f5",
        "unfold/helpers/theme_switch_dropdown.html": "90421e9a3524",
        "unfold/helpers/userlinks.html": "b493fa5ca359",
        "unfold/helpers/welcomemsg.html": "e8eab02522ba",
        "unfold/layouts/skeleton.html": "66af9f0bb45f",
        "unfold/layouts/unauthenticated.html": "768501529f1a",
    }


def test_unfold_has_the_pieces_that_our_lists_are_made_of():
    """If one has changed, compare it with tasks_app/pages/rows.py and templates/tasks_app/list.html."""
    row = inspect.getsource(unfold_list.items_for_result)
    helpers = {"change_list_actions.html", "change_list_headers.html"}
    results = (UNFOLD / "templates/admin/change_list_results.html").read_bytes()

    for words in ("*ROW_CLASSES", "= CHECKBOX_CLASSES", "LINK_CLASSES", "display_for_label(value,", 'data-label="{}"'):
        assert words in row, words
    assert unfold_list.result_headers.__code__.co_varnames[0] == "cl"
    assert 'value="17"' in checkbox.render("_selected_action", "17")
    assert display_for_label(("warning", "late"), "", {"warning": "warning"}).strip().endswith("</span>")
    assert all((UNFOLD / "templates/unfold/helpers" / one).exists() for one in helpers)
    assert sha256(results).hexdigest()[:12] == "1a2a072727ae"


def test_unfold_opens_its_search_for_an_event():
    search = (UNFOLD / "templates/unfold/helpers/command.html").read_text()

    assert 'x-on:opencommand.window="handleOpen()"' in search and 'id="search-input-command"' in search


def test_unfold_has_the_functions_that_our_page_gives_its_expressions():
    script = (UNFOLD / "static/unfold/js/app.js").read_text()
    parts = (Path(tasks_app.__file__).parent / "static/tasks_app/parts.js").read_text()

    for name in ("theme", "searchForm", "searchCommand", "sortRecords", "getCurrentTab"):
        assert f"function {name}(" in script and f"{name}(" in parts, name
    assert "const moveRecords = (" in script


def test_unfold_draws_charts_when_the_page_has_loaded():
    """Until then our parts.js has fetched Chart.js, for a page that has one."""
    script = (UNFOLD / "static/unfold/js/app.js").read_text()
    drawing = script[script.index("const renderCharts = ") :]

    assert re.search(r'window\.addEventListener\("load", [^}]*renderCharts\(\);', script)
    assert drawing.index('document.querySelectorAll(".chart")') < drawing.index("Chart.defaults")
    for one in ("bar", "line"):
        assert '<canvas class="chart"' in (UNFOLD / f"templates/unfold/components/chart/{one}.html").read_text()


def test_unfold_changes_the_forms_of_django_in_one_place():
    """Were there another place, `tests/host` would see it; if there is none any more, our guard can go."""
    patches = [
        f"{path.relative_to(UNFOLD)}:{function.name}"
        for path in UNFOLD.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and getattr(node.targets[0].value, "id", "") in ("helpers", "options", "main", "admin", "sites")
    ]

    assert {one.rpartition(":")[2] for one in patches} == {"changeform_view", "ready"}
