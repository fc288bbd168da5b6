"""What `make clients` generates from the schema."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tasks_app
from clients.__main__ import HERE, PYTHON, STAMP, TYPESCRIPT, make_if_changed
from tests.support.schema import SCHEMA


def test_a_client_is_generated_again_only_if_it_was_made_from_something_else(tmp_path):
    """Not the client itself: tests that run beside this one import it."""
    made = []

    def make(into: Path) -> None:
        into.mkdir(exist_ok=True)
        made.append(into)

    for digest in ("of this schema", "of this schema", "of a later schema"):
        make_if_changed(tmp_path / "generated", digest, make)

    assert len(made) == 2 and (tmp_path / "generated" / STAMP).read_text() == "of a later schema"


def test_the_typescript_client_has_every_operation_and_every_field_of_the_schema():
    operations, types = (
        (TYPESCRIPT / "src" / "generated" / name).read_text() for name in ("sdk.gen.ts", "types.gen.ts")
    )
    assert set(re.findall(r"url: '(.*)'", operations)) == set(SCHEMA["paths"])
    named = dict(re.findall(r"^export type (\w+) = (.*?;)\n\n", types, re.DOTALL | re.MULTILINE))
    for name, component in SCHEMA["components"]["schemas"].items():
        fields = set(re.findall(r"^    ['\"]?(\w+)['\"]?\??:", named[name], re.MULTILINE))
        assert fields == component.get("properties", {}).keys(), name


def test_both_packages_have_our_version():
    python = tomllib.loads((HERE / "python" / "pyproject.toml").read_text())["project"]
    typescript = json.loads((TYPESCRIPT / "package.json").read_text())
    assert python["version"] == typescript["version"] == tasks_app.__version__


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
