"""What lies in clients/ is what `make clients` makes of the schema."""

import filecmp
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tasks_app
from clients.__main__ import HERE, PYTHON, TYPESCRIPT, install_node_modules, make_python, make_typescript
from tests.support.scale import FULL
from tests.support.schema import SCHEMA


def differences(ours: Path, fresh: Path) -> list[str]:
    names = {
        file.relative_to(tree) for tree in (ours, fresh) for file in tree.rglob("*") if file.suffix in (".py", ".ts")
    }
    return [str(name) for name in sorted(names) if not _same(ours / name, fresh / name)]


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and filecmp.cmp(one, other, shallow=False)


@pytest.mark.parametrize("language", ["python", "typescript"] if FULL else ["python"])
def test_the_client_is_the_one_that_the_schema_makes(language, tmp_path):
    fresh = tmp_path / "generated"
    if language == "python":
        ours = PYTHON
        make_python(fresh)
    else:
        ours = TYPESCRIPT / "src" / "generated"
        install_node_modules()
        make_typescript(fresh)

    assert differences(ours, fresh) == [], "Run `make clients`, and commit what it changed."
    assert len(list(fresh.rglob("*.*"))) > 5


def test_the_typescript_client_has_every_operation_and_every_field_of_the_schema():
    """Its generator takes seconds, so `make prove` runs it. Who forgets `make clients` is told so here too."""
    operations, types = (
        (TYPESCRIPT / "src" / "generated" / name).read_text() for name in ("sdk.gen.ts", "types.gen.ts")
    )
    assert set(re.findall(r"url: '(.*)'", operations)) == set(SCHEMA["paths"])
    named = dict(re.findall(r"^export type (\w+) = (.*?;)\n\n", types, re.DOTALL | re.MULTILINE))
    for name, component in SCHEMA["components"]["schemas"].items():
        fields = set(re.findall(r"^    ['\"]?(\w+)['\"]?\??:", named[name], re.MULTILINE))
        assert fields == component.get("properties", {}).keys(), name


def test_the_typescript_package_has_our_version():
    assert json.loads((TYPESCRIPT / "package.json").read_text())["version"] == tasks_app.__version__


WRONG = """
from punctual_client import Punctual, TaskIn

punctual = Punctual("https://x", "y")
punctual.create_task(TaskIn(7, "a"))
punctual.create_task({"task_type": "A"})
punctual.read_task("seven")
punctual.read_task(7).due
punctual.iterate_tasks(stauts="DEAD")
"""


@pytest.mark.scale  # `make lint` checks the client itself; with the page and what is wrong it takes longer
def test_the_python_client_and_the_page_about_it_are_typed(tmp_path):
    page = re.search(r"```python\n(.*?)```", (HERE.parent / "docs" / "clients.md").read_text(), re.DOTALL)[1]
    (tmp_path / "page.py").write_text(page)
    (tmp_path / "wrong.py").write_text(WRONG)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", HERE.parent / ".mypy_cache", "page.py", "wrong.py"],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(PYTHON.parent.parent)},
        capture_output=True,
        text=True,
    )

    complaints = {int(line.split(":")[1]) for line in checked.stdout.splitlines() if line.startswith("wrong.py")}
    assert complaints == {5, 6, 7, 8, 9}
    assert [line for line in checked.stdout.splitlines()[:-1] if not line.startswith("wrong.py")] == [], checked.stdout
