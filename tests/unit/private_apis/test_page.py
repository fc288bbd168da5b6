"""docs/private-apis.md lists what we use of libraries that they never promised; its tests are in this folder."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve()
ROOT = HERE.parents[3]
OURS = ("django_punctual", "tasks_app", "scheduler_project", "articles_app", "inventory_app")
PAGE = (ROOT / "docs" / "private-apis.md").read_text()
NAMES = re.compile(r"`([^`]+)`")


class Line(NamedTuple):
    names: list[str]
    places: list[str]  # the adapter of its library, or where it is used
    tests: list[str]
    adapted: bool


def _lines() -> Iterator[Line]:
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        adapters = NAMES.findall(" ".join(re.findall(r"^Adapters?: .*$", section, re.MULTILINE)))
        for row in re.findall(r"^\| `.*$", section, re.MULTILINE):
            names, *places, _why, tests = (NAMES.findall(cell) for cell in row.split("|")[1:-1])
            yield Line(names, places[0] if places else adapters, tests, adapted=not places)


LINES = list(_lines())
ADAPTERS = {ROOT / place for line in LINES if line.adapted for place in line.places}
# Our own have these too, or other libraries, where they are documented.
COMMON = {"accept", "callback", "close", "get_connection", "init", "models", "operations", "settings", "socket"}
COMMON |= {"create", "samples", "verbose_name", "verbose_name_plural"}
UNDERSCORE = re.compile("_(?!_)|__ninja")
# They begin with an underscore and are documented all the same.
DOCUMENTED = {"_meta", "_default_manager", "_exit", "_getframe", "_current_frames"}
DOCUMENTED |= {"_replace", "_asdict", "_make", "_fields"}  # of a named tuple


def _last(name: str) -> str:
    return re.split(r"[\[(]", name)[0].rpartition(".")[2]


class File(NamedTuple):
    path: Path
    read: set[str]  # attributes with a leading underscore
    made: set[str]  # what it defines, and what its instances have
    used: set[str]  # attributes of others, and what is imported from elsewhere


@cache
def _files() -> list[File]:
    return [_file(path) for folder in OURS for path in (ROOT / folder).rglob("*.py")]


def _file(path: Path) -> File:
    read, made, used = set(), set(), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            own = getattr(node.value, "id", "") == "self"
            if not own:
                used.add(node.attr)
            if node.attr[0] == "_" and UNDERSCORE.match(node.attr):
                (made if own and isinstance(node.ctx, ast.Store) else read).add(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            made.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            made.add(getattr(node.target, "id", ""))
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("tasks_app.libraries"):
            used |= {one.name for one in node.names}
    return File(path, read, made, used)


def _foreign(*, adapters: bool) -> set[str]:
    """Attributes with a leading underscore that are read, and not made by the code beside."""
    # By folder: what one file of it makes, another may read, and so may those of a folder in it.
    read, made = defaultdict(set), defaultdict(set)
    for one in _files():
        if (one.path in ADAPTERS) is adapters:
            read[one.path.parent] |= one.read
            made[one.path.parent] |= one.made
    foreign = {
        name for folder, names in read.items() for name in names - made[folder] - made[folder.parent] - DOCUMENTED
    }
    return {name for name in foreign if not name.startswith("_punctual_")}


def test_the_page_names_each_test_once():
    others = [
        path.read_text() for path in HERE.parent.glob("test_*.py") if path.stem not in ("test_page", "test_adapters")
    ]
    here = [name for text in others for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)]
    listed = [name for line in LINES for name in line.tests]

    assert sorted(listed) == sorted(here)


def test_the_page_tells_where_each_is_used():
    for line in LINES:
        code = [(ROOT / place).read_text() for place in line.places]
        for name in line.names:
            assert any(re.search(rf"\b{re.escape(_last(name))}\b", text) for text in code), (name, line.places)


def test_the_page_has_every_attribute_with_an_underscore_that_is_not_ours():
    listed = {
        adapted: {_last(name) for line in LINES if line.adapted is adapted for name in line.names}
        for adapted in (True, False)
    }

    assert _foreign(adapters=True) <= listed[True]
    assert _foreign(adapters=False) <= listed[False]


def test_what_has_an_adapter_is_used_in_it_alone():
    adapted = {_last(name) for line in LINES if line.adapted for name in line.names} - COMMON
    assert len(adapted) > 40

    assert {one.path: names for one in _files() if one.path not in ADAPTERS and (names := one.used & adapted)} == {}
