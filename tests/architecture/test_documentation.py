"""A message names pages that an installed user can open: by an address, or by a command that works offline."""

import ast
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tasks_app.conf import from_settings
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.documentation import pages

OURS = Path(__file__).parents[2] / "tasks_app"
IN_A_CHECKOUT = {"as the part of docs/events.md that lists them"}  # what makes that part
NAMES = {one.name for one in pages()}


def texts() -> Iterator[tuple[str, str]]:
    """Every string of our modules but docstrings, and every template."""
    for file in OURS.rglob("*.html"):
        yield file.name, file.read_text()
    for file in OURS.rglob("*.py"):
        tree = ast.parse(file.read_text())
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                yield f"{file.relative_to(OURS)}:{node.lineno}", node.value


def called_pages() -> Iterator[str]:
    for file in OURS.rglob("*.py"):
        if "import page" in (text := file.read_text()):
            yield from re.findall(r"\bpage\(['\"]([\w/-]+)['\"]\)", text)


def test_no_message_names_a_file_of_the_checkout():
    found = list(texts())

    assert len(found) > 20_000
    named = {place: text for place, text in found if re.search(r"\bdocs/[\w/-]+\.md", text)}
    assert {text for place, text in named.items() if text not in IN_A_CHECKOUT} == set(), named


def test_every_page_that_a_message_names_is_there():
    by_command = {name for _, text in texts() for name in re.findall(r"punctual_help ([\w/-]+)", text)}
    by_call = set(called_pages())

    assert len(by_command) > 4 and len(by_call) > 8
    assert by_command | by_call <= NAMES


def printed(*words: str) -> str:
    out = io.StringIO()
    call_command("punctual_help", *words, stdout=out)
    return out.getvalue()


def test_a_page_is_printed_as_it_is():
    assert printed("moving/rq") == (OURS.parent / "docs" / "moving" / "rq.md").read_text()
    assert printed("docs/cron.md#clocks") == printed("cron")


def test_all_pages_are_listed_with_their_first_sentence():
    lines = dict(line.split(maxsplit=1) for line in printed().splitlines())

    assert lines.keys() == NAMES and len(NAMES) > 50
    assert lines["jobs"].startswith("How do I run something on a schedule")
    assert all(len(about) > 10 and about[0].isupper() and about[-1] in ".?!" for about in lines.values())
    assert {one["page"]: one["about"] for one in json.loads(printed("--json"))} == lines


def test_an_unknown_page_suggests_one():
    with pytest.raises(CommandError, match=r"no page 'deplyo'\. Did you mean 'deploy'"):
        printed("deplyo")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "`manage.py punctual_help configuration` lists them all."),
        ({"DOCS_URL": "https://docs.example.com/x/"}, "https://docs.example.com/x/configuration.md lists them all."),
    ],
)
def test_a_message_names_the_page_where_the_settings_say_it_is(settings, given, says):
    settings.PUNCTUAL = settings.PUNCTUAL | given

    with pytest.raises(InvalidConfiguration, match=re.escape(says)):
        from_settings({"NO_SUCH_SETTING": 1})
