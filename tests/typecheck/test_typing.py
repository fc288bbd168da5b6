"""A type checker in strict mode is content with right uses of everything public, and finds the wrong ones."""

import ast
import inspect
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import django_punctual
from django_punctual import campaigns, compensation, jobs, rolling, subscriptions, testing, together
from tasks_app.client.declared import AllOptions, CancelOptions, MoveOptions, Options
from tasks_app.core import handlers

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
EXAMPLE, WRONG = HERE / "example_app.py", HERE / "wrong_uses.py"
OURS = ["tasks_app/client", "tasks_app/together.py", "django_punctual/testing"]
PUBLIC = [django_punctual, campaigns, compensation, jobs, rolling, subscriptions, together, testing]


@pytest.fixture(scope="module")
def complaints() -> list[str]:
    """What mypy says about the example, the wrong uses and the packages that people import, in one run."""
    command = [sys.executable, "-m", "mypy", "--config-file", HERE / "mypy.ini", EXAMPLE, WRONG]
    told = subprocess.run([*command, *OURS], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert "checked" in told.stdout, told.stdout + told.stderr
    return [line for line in told.stdout.splitlines() if ": error: " in line]


def test_a_type_checker_is_content_with_right_uses_of_everything(complaints):
    assert [line for line in complaints if not line.startswith("tests/typecheck/wrong_uses.py")] == []


def test_a_type_checker_finds_each_wrong_use_and_no_other(complaints):
    found = {int(re.search(r"wrong_uses\.py:(\d+)", line)[1]) for line in complaints if "wrong_uses.py" in line}
    marked = {number for number, line in enumerate(WRONG.read_text().splitlines(), 1) if "  # wrong: " in line}

    assert found == marked
    assert len(marked) >= 10


def test_the_example_uses_every_public_name():
    tree = ast.parse(EXAMPLE.read_text())
    used = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))

    assert [name for module in PUBLIC for name in module.__all__ if not used[name]] == []


def test_every_public_function_says_what_it_takes_and_gives():
    functions = [getattr(module, name) for module in PUBLIC for name in module.__all__]
    unsaid = [
        f"{function.__module__}.{function.__name__}: {name}"
        for function in functions
        if inspect.isfunction(function)
        for name, annotation in _annotations(function).items()
        if annotation is inspect.Parameter.empty
    ]
    assert unsaid == []


def test_options_that_are_passed_on_are_those_that_are_taken():
    """A TypedDict can't be made from a signature, so a new option has to be written twice."""
    assert set(handlers.HandlerOptions.__annotations__) == _keywords(handlers.handler) - {
        "typed",
        "depth",
        "named_only",
    }
    assert set(Options.__annotations__) == _keywords(django_punctual.schedule) - {"payload"} | {"key"}
    assert set(MoveOptions.__annotations__) == _keywords(django_punctual.reschedule) - {"payload"} | {"key"}
    assert set(CancelOptions.__annotations__) == _keywords(django_punctual.cancel) | {"key"}
    every = {*Options.__annotations__, *MoveOptions.__annotations__, *CancelOptions.__annotations__}
    assert set(AllOptions.__annotations__) == every


def _annotations(function) -> dict[str, object]:
    signature = inspect.signature(function)
    return {one.name: one.annotation for one in signature.parameters.values()} | {"return": signature.return_annotation}


def _keywords(function) -> set[str]:
    return {one.name for one in inspect.signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY}
