"""Finds what reads text in the source of the product."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("django_punctual", "tasks_app", "articles_app", "inventory_app", "demo_app", "scheduler_project")
# Where everything that goes through a text counts as reading it, whatever its name.
READING = ("tasks_app/core/", "tasks_app/console/", "tasks_app/outgoing/", "scheduler_project/")

# What is raised about a value that somebody gave.
_REFUSES = {
    "InvalidTask",
    "InvalidConfiguration",
    "NothingToDo",
    "ValueError",
    "Problem",
    "Refused",
    "Unfit",
    "BadFile",
    "BadRequest",
    "ValidationError",
    "CannotUnseal",
    "ArgumentTypeError",
    "CommandError",
}
_UNREAD = {"str", "bytes", "object", "Any"}  # the types of what nothing has been read from yet
_READS = re.compile(r"(parse|read|check|clean|to_python|decode|load)[a-z]*(_|$)|(of|from_|matches)$|.*_(of|from)$")
# What makes something else of a text; wherever it is called, something is read.
_DECODERS = {
    "loads",
    "b64decode",
    "urlsafe_b64decode",
    "fromisoformat",
    "fromhex",
    "strptime",
    "urlsplit",
    "urlparse",
    "parse_qs",
    "parse_qsl",
    "ip_address",
    "ip_network",
    "literal_eval",
    "get_single_node",
    "safe_load",
    "reader",
    "DictReader",
    "parsedate_to_datetime",
    "parse_datetime",
    "CronSim",
    "ZoneInfo",
    "UUID",
    "Decimal",
}
# What goes through a text; in the core, whatever does that reads something, even if it refuses nothing.
_GOES_THROUGH = {
    "split",
    "rsplit",
    "splitlines",
    "partition",
    "rpartition",
    "match",
    "fullmatch",
    "search",
    "finditer",
    "findall",
    "sub",
    "translate",
}
_THROUGH = _GOES_THROUGH | _DECODERS
# Fields of forms read whatever is typed, and often refuse nothing.
_OF_FORMS = re.compile(r"(clean|to_python)(_|$)")
_MAY_READ = re.compile(
    rf"\b({'|'.join(sorted(_DECODERS))})\(|\bdef (parse|read|check|clean|to_python|decode|load|\w+_of\b|of\b)"
)

Node = ast.FunctionDef | ast.AsyncFunctionDef


def found() -> list[str]:
    """`file:function` of all that reads text; a method as Class.method."""
    return [
        f"{file}:{name}"
        for path in _sources()
        if (file := str(path.relative_to(ROOT))).startswith(READING) or _MAY_READ.search(path.read_text())
        for name in found_in(path.read_text(), thorough=file.startswith(READING))
    ]


def found_in(text: str, *, thorough: bool) -> list[str]:
    """Of a file: where everything counts, all that is public, takes what nothing has read yet, and goes through it or
    may refuse it; elsewhere what is named as if it did; and everywhere what calls a decoder, and fields of forms."""
    functions = {name: _Function(one) for name, one in _functions(ast.parse(text).body)}
    reading = {name for name, one in functions.items() if one.refuses or (thorough and one.calls & _THROUGH)}
    while more := {name for name, one in functions.items() if name not in reading and one.calls & _short(reading)}:
        reading |= more
    return [
        name
        for name, one in functions.items()
        if one.calls & _DECODERS
        or (_OF_FORMS.match(one.name) and (one.takes_text or one.name.startswith("clean_")))
        or (
            name in reading and one.takes_text and not one.name.startswith("_") and (thorough or _READS.match(one.name))
        )
    ]


def _sources() -> Iterator[Path]:
    for package in PRODUCT:
        yield from (path for path in sorted((ROOT / package).rglob("*.py")) if "migrations" not in path.parts)


def _functions(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, Node]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{within}{node.name}.")
        elif isinstance(node, Node):
            yield f"{within}{node.name}", node


class _Function:
    def __init__(self, node: Node) -> None:
        self.name = node.name
        self.calls: set[str] = set()  # also what is handed to others to be called
        self.refuses = False
        for one in ast.walk(node):
            if isinstance(one, ast.Call):
                self.calls.update(map(_last_name, (one.func, *one.args)))
            elif isinstance(one, ast.Raise) and one.exc is not None:
                error = one.exc.func if isinstance(one.exc, ast.Call) else one.exc
                self.refuses |= _last_name(error) in _REFUSES
        taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg]
        hints = [given.annotation for given in taken if given is not None and given.annotation is not None]
        self.takes_text = any(_last_name(one) in _UNREAD for hint in hints for one in ast.walk(hint))


def _short(names: set[str]) -> set[str]:
    return {name.rpartition(".")[2] for name in names}


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
