"""What benches and faults import is there: most of it inside functions that no test calls, since that is for a quiet
machine."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = (
    "articles_app",
    "bench",
    "chaos",
    "demo_app",
    "django_punctual",
    "inventory_app",
    "scheduler_project",
    "tasks_app",
)


@pytest.mark.parametrize("folder", ["bench", "chaos"])
def test_every_name_that_is_imported_is_defined(folder):
    missing = [
        f"{path.relative_to(ROOT)}:{node.lineno} {module} has no {alias.name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (module := _module(path, node)).split(".")[0] in OURS
        for alias in node.names
        if alias.name != "*" and alias.name not in _names(module)
    ]

    assert missing == []


def _module(path: Path, node: ast.ImportFrom) -> str:
    """Its absolute name."""
    if not node.level:
        return node.module or ""
    here = path.relative_to(ROOT).parts[: -node.level]
    return ".".join([*here, *([node.module] if node.module else [])])


@cache
def _names(module: str) -> set[str]:
    """What can be imported from it: what it defines, and the modules in its folder."""
    folder = ROOT.joinpath(*module.split("."))
    inside = {path.stem for path in folder.iterdir()} if folder.is_dir() else set()
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    return inside | (_defined(ast.parse(file.read_text())) if file.exists() else set())


def _defined(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names |= {(alias.asname or alias.name).split(".")[0] for alias in aliases}
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
    return names | _imported_star(tree)


def _imported_star(tree: ast.Module) -> set[str]:
    stars = [node.module for node in tree.body if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    return set().union(*(_names(module) for module in stars))
