"""docs/private-apis.md lists what we use of libraries that they never promised; its tests are in this folder."""

import ast
import re
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[3]
OURS = ("django_punctual", "tasks_app", "scheduler_project", "articles_app", "inventory_app")
PAGE = (ROOT / "docs" / "private-apis.md").read_text()
ROWS = [
    [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")[1:-1]]
    for row in re.findall(r"^\| `.*$", PAGE, re.MULTILINE)
]
# They begin with an underscore and are documented all the same.
DOCUMENTED = {"_meta", "_default_manager", "_exit", "_getframe", "_current_frames"}
DOCUMENTED |= {"_replace", "_asdict", "_make", "_fields"}  # of a named tuple


def test_the_page_names_each_test_once():
    others = [path.read_text() for path in HERE.parent.glob("test_*.py") if path != HERE]
    here = [name for text in others for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)]
    told = [name for *_, tests in ROWS for name in tests]

    assert sorted(told) == sorted(here)


def test_the_page_tells_where_each_is_used():
    for names, places, *_ in ROWS:
        code = [(ROOT / place).read_text() for place in places]
        for name in names:
            last = re.split(r"[\[(]", name)[0].rpartition(".")[2]
            assert any(re.search(rf"\b{re.escape(last)}\b", text) for text in code), (name, places)


def test_the_page_has_every_attribute_with_an_underscore_that_is_not_ours():
    told = {name.rpartition(".")[2] for names, *_ in ROWS for name in names}
    # By folder: what one file of it makes, another may read, and so may those of a folder in it.
    read, made = defaultdict(set), defaultdict(set)
    for path in (path for folder in OURS for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and re.match("_(?!_)|__ninja", node.attr):
                own = isinstance(node.ctx, ast.Store) and getattr(node.value, "id", "") == "self"
                (made if own else read)[path.parent].add(node.attr)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                made[path.parent].add(node.name)
            elif isinstance(node, ast.AnnAssign):
                made[path.parent].add(getattr(node.target, "id", ""))

    foreign = {
        name for folder, names in read.items() for name in names - made[folder] - made[folder.parent] - DOCUMENTED
    }
    assert {name for name in foreign if not name.startswith("_punctual_")} <= told
