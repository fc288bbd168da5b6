"""Job files in YAML, read into Values with their lines, and written. Needs PyYAML, which the extra `[yaml]` brings.

Only what JSON has, too: no tags, so that no object can be made, no anchors and aliases, so that a short file is a short
file; and of the scalars, those of YAML 1.2, so that `no` is a text and 1:30 is not 90.
"""

import json
import re
from collections.abc import Iterable, Mapping

import yaml
from yaml.composer import ComposerError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tasks_app.core.errors import shown
from tasks_app.core.text import control_in

from .document import BadFile, Value

DEEPEST = 100  # lists and objects in one another
_TOO_DEEP = f"more than {DEEPEST} lists and objects in one another"
_SCALARS = (
    ("tag:yaml.org,2002:null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("tag:yaml.org,2002:bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("tag:yaml.org,2002:int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("tag:yaml.org,2002:float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
)
_HINTS = (
    ("\\t", "YAML is indented with spaces; replace the tab"),
    ("while scanning an alias", "a text that begins with * needs quotes, such as cron: '*/5 * * * *'"),
    ("expected a single document", "a file is one document; remove the `---` between them"),
    ("mapping values are not allowed", "a text with `: ` in it needs quotes, or the line is indented too far"),
)


class _Loader(yaml.SafeLoader):
    """Composes nodes; what they mean is read here, not by constructors."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.depth = 0

    def fetch_flow_collection_start(self, kind: type) -> None:
        """Tokens are read up to a thousand characters ahead, in a time that grows with the square of their depth."""
        if self.flow_level >= DEEPEST:
            raise ComposerError(None, None, _TOO_DEEP, self.get_mark())
        super().fetch_flow_collection_start(kind)

    def compose_node(self, parent: Node | None, index: object) -> Node | None:
        event = self.peek_event()
        if getattr(event, "anchor", None) is not None:
            words = "anchors and aliases (& and *) are not read, so that each job can be read where it stands; fields "
            raise ComposerError(None, None, f"{words}that all jobs share go into `defaults:`", event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise ComposerError(None, None, f"the tag {shown(event.tag)} is not read; drop it", event.start_mark)
        self.depth += 1
        if self.depth > DEEPEST:
            raise ComposerError(None, None, _TOO_DEEP, event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Dumper(yaml.SafeDumper):
    """Puts in quotes what either version of YAML would take for something else than a text."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)  # a list within its key


for _tag, _pattern, _first in _SCALARS:
    for _one in (_Loader, _Dumper):
        _one.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z"), _first)


def parse(text: str, file: str) -> Value:
    """The file as Values; BadFile if it is not YAML, or more than we read."""
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            raise BadFile([f"{file}: the file is empty. A file that declares no job says so: `jobs: []`."])
        return _value(node)
    except yaml.YAMLError as error:
        raise BadFile([_told(error, file)]) from None
    except RecursionError:
        raise BadFile([f"{file}: too many lists and objects in one another."]) from None
    finally:
        if loader is not None:
            loader.dispose()


def write(whole: Mapping[str, object]) -> str:
    """A file that says this, as people would write it; where a terminal might obey a character of it, all in ASCII."""
    texts: list[str] = [
        yaml.dump(dict(whole), Dumper=_Dumper, sort_keys=False, allow_unicode=unicode, width=100)
        for unicode in (True, False)
    ]
    text, ascii_text = texts
    return text if control_in(text, lines=True) is None else ascii_text


def _value(node: Node) -> Value:
    line = node.start_mark.line + 1
    if isinstance(node, MappingNode):
        return Value(_entries(node.value), line)
    if isinstance(node, SequenceNode):
        return Value([_value(one) for one in node.value], line)
    return Value(_scalar(node), line)


def _entries(pairs: Iterable[tuple[Node, Node]]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in pairs:
        name = _scalar(key) if isinstance(key, ScalarNode) else None
        if not isinstance(name, str):
            what = shown(key.value) if isinstance(key, ScalarNode) else "a list or an object"
            raise ComposerError(None, None, f"{what} is no name of a field; put it in quotes", key.start_mark)
        if name == "<<" and key.style is None:
            words = "`<<` is not read; fields that all jobs share go into `defaults:`"
            raise ComposerError(None, None, words, key.start_mark)
        if name in found:
            words = f"{name!r} is there twice, first in line {found[name].line}"
            raise ComposerError(None, None, words, key.start_mark)
        found[name] = _value(value)
    return found


def _scalar(node: ScalarNode) -> object:
    text: str = node.value
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return _number(node, int)
        case "float":
            return _number(node, float)
    return text


def _number(node: ScalarNode, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(node.value)
        json.dumps(number, allow_nan=False)
        return number
    except ValueError:  # of thousands of digits, or beyond what a float can hold
        words = f"{shown(node.value)} can't be read as a number; put it in quotes if it is a text"
        raise ComposerError(None, None, words, node.start_mark) from None


def _told(error: yaml.YAMLError, file: str) -> str:
    """In one line, with the place and the way out."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    words = getattr(error, "problem", None) or str(error).partition("\n")[0]
    context = getattr(error, "context", None)
    hint = next((hint for sign, hint in _HINTS if sign in f"{context} {words}"), None)
    place = f"{file}:{mark.line + 1}" if mark else file
    told = f"{place}: {words}{f' ({context})' if context else ''}."
    return (f"{told} {hint[0].upper()}{hint[1:]}." if hint else told).replace("\n", " ")
