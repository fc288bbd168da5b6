"""All that pages say can be translated, and is: templates, code, catalogues, and what is compiled of them."""

import ast
import gettext
import inspect
import re
from datetime import timedelta
from pathlib import Path

import django
import pytest

from tasks_app.core import alarms, overdue, phrases, tenants
from tasks_app.engine.watch import verdict, why
from tasks_app.engine.watch.verdict.judge import RULES
from tasks_app.lifecycle.jobs import view
from tasks_app.pages import spans
from tasks_app.templatetags.punctual import PAGES, WITHOUT_PAGE
from tests.support import catalog
from tests.support.catalog import APPS, Text

HOLES = re.compile(r"%\(\w+\)s|%%|{[^{}]*}|</?\w+[^>]*>")


@pytest.mark.parametrize("app", APPS)
def test_templates_say_nothing_that_cannot_be_translated(app):
    found = {path.name: words for path in catalog.templates(app) if (words := catalog.unmarked(path.read_text()))}

    assert found == {}, "put it into {% translate %} or {% blocktranslate %}, then make messages"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("<p>Hello {{ name }}</p>", ["Hello"]),
        ('<a href="{% url "x" %}">{% if a > 1 %}more{% endif %}</a>', ["more"]),
        ('<nav aria-label="Pages">{% translate "Next" %}</nav>', ["Pages"]),
        ("<p>{% blocktranslate %}Of {{ name }}{% endblocktranslate %} UTC – {{ x|default:'y' }} &amp; 5 s</p>", []),
        ("{% comment %}Not said{% endcomment %}{# nor this #}<input value='never read aloud'>", []),
    ],
)
def test_what_a_template_says_is_found(template, words):
    assert catalog.unmarked(template) == words


@pytest.mark.parametrize("app", APPS)
def test_every_text_has_a_translation_and_nothing_else_has(app):
    known, asked = catalog.read(app), catalog.asked(app)

    assert sorted(asked - set(known)) == [], "make messages, and translate what it names"
    assert sorted(set(known) - asked) == [], "make messages"
    assert sorted(text for text, translation in known.items() if not translation.strip()) == []


@pytest.mark.parametrize("app", APPS)
def test_a_translation_has_the_figures_and_marks_of_its_text(app):
    wrong = {
        text.words: translation
        for text, translation in catalog.read(app).items()
        if sorted(HOLES.findall(text.plural or text.words)) != sorted(HOLES.findall(translation))
    }

    assert wrong == {}


@pytest.mark.parametrize("app", APPS)
def test_what_is_compiled_is_what_was_written(app):
    path = catalog.folder(app) / "django.mo"

    assert path.read_bytes() == catalog.compiled(catalog.read(app)), "make messages"
    with path.open("rb") as file:
        known = gettext.GNUTranslations(file)
    for text, translation in catalog.read(app).items():
        said = known.ngettext(text.key, text.plural, 2) if text.plural else known.gettext(text.key)
        assert said == translation


def test_one_text_has_one_translation_whoever_asks_for_it():
    """Django makes one catalogue of all, its own too: ours must not change what the pages of a host say."""
    theirs: dict[str, set[str]] = {}
    for path in Path(django.__file__).parent.rglob(f"locale/{catalog.LANGUAGE}/LC_MESSAGES/django.mo"):
        with path.open("rb") as file:
            for key, translation in gettext.GNUTranslations(file)._catalog.items():
                theirs.setdefault(key[0] if isinstance(key, tuple) else key, set()).add(translation)
    ours: dict[str, str] = {}
    for app in APPS:
        for text, translation in catalog.read(app).items():
            assert ours.setdefault(text.key, translation) == translation, (app, text)
            assert translation in theirs.get(text.key, {translation}), (app, text, theirs[text.key])


def test_the_words_of_the_core_that_pages_show_are_translated():
    core = {*alarms.WORDS.values(), *overdue.WORDS.values(), *(one.words for one in tenants.QUOTAS.values())}

    assert {Text(words) for words in core} <= set(catalog.read("tasks_app"))


def test_every_reason_is_said_by_words_that_can_be_translated():
    """Whoever makes one gives it what `said` and its like have made, or what another reason says."""
    plain = [
        ast.unparse(argument)
        for module in (why, view)
        for call in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Reason"
        for argument in call.args[1:]
        if isinstance(argument, ast.Constant | ast.JoinedStr)
    ]

    assert plain == [], "say it with `said`, so that a page can say it in Chinese"


def test_every_problem_is_said_by_words_that_can_be_translated_and_leads_to_its_page():
    """What is wrong and the way out; what some program said, in the detail, stays as it was."""
    trees = [ast.parse(file.read_text()) for file in Path(verdict.__file__).parent.glob("*.py")]
    told = [
        one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
    ]
    plain = [
        ast.unparse(argument)
        for call in told
        if call.func.id in ("trouble", "notice")
        for argument in call.args[:2]
        if isinstance(argument, ast.Constant | ast.JoinedStr)
    ]

    assert plain == [], "say it with said() or said_of() of tasks_app/core/said.py"
    assert {rule.__name__ for rule in RULES} == PAGES.keys() | WITHOUT_PAGE


def test_a_length_of_time_is_said_as_everywhere_unless_it_is_translated():
    for seconds in (0.015, 5, 300, 9_000, 900_000):
        assert spans.span(timedelta(seconds=seconds)) == phrases.span(timedelta(seconds=seconds))
    assert spans.milliseconds(12.34) == "12.3 ms"
