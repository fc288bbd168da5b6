"""Every row of docs/requirements.md leads to code, tests, settings, tables and endpoints that exist."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from django.apps import apps

from articles_app.conf import Conf as Articles
from inventory_app.conf import Conf as Stock
from tasks_app.conf.knobs import Conf as Punctual

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "requirements.md"
# The sections of each document that ask for something, with the fewest rows that they have together. More are welcome.
SECTIONS = {
    "000": ("1 2 3 4 5 6", 28),
    "001": ("1 2 3 4 Q1 Q2 Q3 Q4 Q5", 35),
    "002": ("3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 22", 143),
    "003": ("1 2 3", 33),
    "004": ("1 2 3 4", 18),
}
SETTINGS = {"": Punctual, "ARTICLES.": Articles, "STOCK.": Stock}
OFF = "default: off; changes with the table of defaults"
MADE = re.compile(r"CREATE (?:TABLE|VIEW) (\w+)")


class Row(NamedTuple):
    number: str
    requirement: str
    code: str
    where: str
    test: str
    default: str
    today: str


def rows() -> list[Row]:
    return [Row(*cells(line)) for line in PAGE.read_text().splitlines() if re.match(r"\| \d{3}/", line)]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@cache
def definitions(path: Path) -> set[str]:
    """Functions, classes, their methods, and the constants of a module."""
    tree = ast.parse(path.read_text())
    found = {name for node in tree.body for name in names_of(node)}
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return found | {f"{one.name}.{name}" for one in classes for node in one.body for name in names_of(node)}


def names_of(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name()):
            return [node.target.id]
    return []


@cache
def relations() -> set[str]:
    """Tables and views, of the models and of the SQL beside them."""
    made = (path.read_text() for path in ROOT.glob("*/models/sql/*.sql"))
    return {model._meta.db_table for model in apps.get_models()} | {
        name for text in made for name in MADE.findall(text)
    }


@cache
def endpoints() -> set[str]:
    schema = json.loads((ROOT / "docs" / "openapi.json").read_text())
    return {f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods}


def is_defined(place: str) -> bool:
    path, _, name = place.partition(":")
    return (ROOT / path).is_file() and (not name or name in definitions(ROOT / path))


def is_a_test(name: str) -> bool:
    path, _, test = name.partition("::")
    return path.startswith("tests/") and test.startswith("test_") and is_defined(f"{path}:{test}")


def default_of(name: str) -> object:
    """Of a setting, or of a constant; MISSING if there is no such thing."""
    path, _, constant = name.partition(":")
    if constant:
        return constant_of(ROOT / path, constant) if is_defined(name) else MISSING
    section, _, knob = name.rpartition(".")
    conf = SETTINGS.get(section and f"{section}.")
    found = next((one for one in fields(conf) if one.name == knob), None) if conf else None
    if found is None:
        return MISSING
    return found.default if found.default_factory is MISSING else found.default_factory()


def constant_of(path: Path, name: str) -> object:
    body = ast.parse(path.read_text()).body
    owner, _, attribute = name.rpartition(".")
    if owner:
        [body] = [node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner]
    [value] = [one.value for one in body if isinstance(one, ast.Assign | ast.AnnAssign) and attribute in names_of(one)]
    return ast.literal_eval(value)


def is_default(one: str) -> bool:
    name, _, value = one.partition("=")
    return bool(value) and default_of(name) == ast.literal_eval(value)


def problems_of(row: Row) -> Iterator[str]:
    yield from (f"no such code: {one}" for one in quoted(row.code) if not is_defined(one))
    yield from (f"no such test: {one}" for one in quoted(row.test) if not is_a_test(one))
    yield from (f"not the default: {one}" for one in quoted(row.default) if not is_default(one))
    known = relations() | endpoints()
    yield from (f"no such table or endpoint: {one}" for one in quoted(row.where) if one not in known)
    state, _, reason = row.today.partition(": ")
    if state not in ("works", "differs", "partly") or (state == "works") == bool(reason):
        yield f"neither works nor a reason: {row.today}"
    if not quoted(row.test) and not reason:
        yield "neither a test nor a reason"
    if not quoted(row.code):
        yield "no code"
    if row.default not in ("-", "on", "off") and not quoted(row.default):
        yield f"no default: {row.default}"
    if OFF in row.today and not (quoted(row.default) or row.default == "off"):
        yield "off by default, but the default is missing"


def test_every_section_has_rows_in_order():
    found = [one.number for one in rows()]

    assert [number for number, times in Counter(found).items() if times > 1] == []
    for document, (sections, least) in SECTIONS.items():
        own = [number.partition("/")[2] for number in found if number.startswith(f"{document}/")]
        assert list(dict.fromkeys(number.partition(".")[0] for number in own)) == sections.split(), document
        assert len(own) >= least, document
    assert len(found) == sum(number[:3] in SECTIONS for number in found)


def test_every_row_is_about_what_exists():
    wrong = {row.number: found for row in rows() if (found := list(problems_of(row)))}

    assert wrong == {}


RIGHT = Row(
    "000/1.1",
    "authors can change the publish time",
    "`tasks_app/core/retry.py:Backoff.delay`, `tasks_app/sql/claim/claim.sql`",
    "`punctual_task`, `punctual_dlq_entry`, `POST /jobs`",
    "`tests/architecture/test_requirements_page.py::test_a_row_that_is_wrong_is_found`",
    "`KEEP_HOT_DAYS=14`, `ARTICLES.AUDIT_LEAD_SECONDS=None`, `tasks_app/core/retry.py:DEFAULT_MAX_RETRY=5`",
    "works",
)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"today": "differs: a reason"}, None),
        ({"code": "`tasks_app/core/gone.py`"}, "no such code"),
        ({"code": "`tasks_app/core/retry.py:gone`"}, "no such code"),
        ({"code": "`tasks_app/core/retry.py:Backoff.gone`"}, "no such code"),
        ({"code": "-"}, "no code"),
        ({"test": "`tests/architecture/test_requirements_page.py::test_gone`"}, "no such test"),
        ({"test": "`tests/architecture/test_requirements_page.py::rows`"}, "no such test"),
        ({"test": "-"}, "neither a test nor a reason"),
        ({"test": "-", "today": "differs: a reason"}, None),
        ({"default": "`KEEP_HOT_DAYS=15`"}, "not the default"),
        ({"default": "`KEEP_HOT_DAYS`"}, "not the default"),
        ({"default": "`GONE=14`"}, "not the default"),
        ({"default": "`GONE.KEEP_HOT_DAYS=14`"}, "not the default"),
        ({"default": "`STOCK.AUDIT_LEAD_SECONDS=None`"}, "not the default"),
        ({"default": "`tasks_app/core/retry.py:DEFAULT_MAX_RETRY=6`"}, "not the default"),
        ({"default": "`tasks_app/core/retry.py:Backoff.cap=300`"}, None),
        ({"default": "`tasks_app/core/retry.py:Backoff.cap=301`"}, "not the default"),
        ({"default": "`tasks_app/core/retry.py:Backoff.gone=300`"}, "not the default"),
        ({"default": "14 days"}, "no default"),
        ({"where": "`punctual_gone`"}, "no such table or endpoint"),
        ({"where": "`GET /gone`"}, "no such table or endpoint"),
        ({"where": "`PUT /jobs`"}, "no such table or endpoint"),
        ({"today": "partly"}, "neither works nor a reason"),
        ({"today": "works: mostly"}, "neither works nor a reason"),
        ({"today": "soon: next week"}, "neither works nor a reason"),
        ({"today": f"partly: {OFF}", "default": "-"}, "off by default"),
    ],
)
def test_a_row_that_is_wrong_is_found(change: dict[str, str], problem: str | None):
    found = list(problems_of(RIGHT._replace(**change)))

    assert (problem in found[0]) if problem else found == []
