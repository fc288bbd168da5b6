"""Finds every regular expression of the product in its source, and makes texts on which a slow one takes too long."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from re import _compiler, _constants, _parser  # the parser of Python's own expressions: what they are made of
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PRODUCT = ("django_punctual", "tasks_app", "articles_app", "inventory_app", "demo_app", "scheduler_project")
LENGTH = 100_000  # characters of a text
METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
FROM_THE_START = ("match", "fullmatch")
MANY = 10  # a part that may be repeated so often can make a text long to read
_OTHER_WAYS = ("RegexValidator", "RegexField", "re_path", "StringConstraints")  # what else takes an expression
_MAY_HAVE_ONE = re.compile(r"\bimport re\b|\bfrom re\b|\bregex\b|pattern=|" + "|".join(_OTHER_WAYS))


class Expression(NamedTuple):
    where: str  # file:line
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


class Runtime(NamedTuple):
    """One that is made when the code runs, so that its source does not say what it is."""

    where: str
    code: str  # of its pattern
    method: str

    @property
    def name(self) -> tuple[str, str]:
        return self.where.rpartition(":")[0], self.code


def sources() -> Iterator[Path]:
    for package in PRODUCT:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def found_in(path: Path) -> tuple[list[Expression], list[Runtime]]:
    """The expressions in a file, and those that are made at run time."""
    text = path.read_text()
    if not _MAY_HAVE_ONE.search(text):
        return [], []
    file = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
    tree = ast.parse(text)
    constants: list[Expression] = []
    runtime: list[Runtime] = []
    local, uses = _locals(tree), _uses(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "re":
            raise AssertionError(f"{file}:{node.lineno} imports from re; write `import re`, so that its use is found")
        if isinstance(node, ast.Import) and any(one.name in ("re", "regex") and one.asname for one in node.names):
            raise AssertionError(f"{file}:{node.lineno} gives re another name; write `import re`")
        if not isinstance(node, ast.Call) or (asked := _asked(node)) is None:
            continue
        method, given, flags = asked
        where, code = f"{file}:{node.lineno}", ast.unparse(given)
        pattern = _pattern(path, given, flags, local.get(id(node), frozenset()))
        if pattern is None:
            runtime.append(Runtime(where, code, method))
        else:
            methods = uses.get(id(node), ("search",)) if method == "compile" else (method,)
            constants.append(Expression(where, pattern, methods))
    return constants, runtime


def _asked(call: ast.Call) -> tuple[str, ast.expr, ast.expr | None] | None:
    """How an expression is used, its pattern and its flags; None: this calls something else."""
    keywords = {one.arg: one.value for one in call.keywords}
    match call.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=method) if method == "compile" or method in METHODS:
            given = call.args[0] if call.args else keywords["pattern"]
            place = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(method, 2)
            return method, given, keywords.get("flags", call.args[place] if len(call.args) > place else None)
        case (
            ast.Name(id="re_path" | "RegexValidator" | "RegexField")
            | ast.Attribute(attr="re_path" | "RegexValidator" | "RegexField")
        ):
            return "search", call.args[0] if call.args else keywords["regex"], keywords.get("flags")
    if isinstance(given := keywords.get("pattern"), ast.expr):
        return "search", given, None
    return None


def _pattern(path: Path, given: ast.expr, flags: ast.expr | None, local: frozenset[str]) -> re.Pattern[Any] | None:
    """None: only a run of the code says which it is."""
    bound = {one.id for one in ast.walk(given) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    names = {one.id for one in ast.walk(given) if isinstance(one, ast.Name)} - bound
    if names & local:
        return None
    known = {"re": re}
    if names or flags is not None:
        known = known | vars(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)))
    options = 0 if flags is None else _value(flags, known)
    return re.compile(_value(given, known), options)


def _value(code: ast.expr, known: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(code), "<expression>", "eval"), known)


def _locals(tree: ast.Module) -> dict[int, frozenset[str]]:
    """For each call the names that have no value of their own in the module: those of functions and of loops."""
    looped = {
        name.id
        for loop in tree.body
        if isinstance(loop, ast.For)
        for name in ast.walk(loop)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    found: dict[int, frozenset[str]] = {}

    def enter(node: ast.AST, names: frozenset[str]) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            stored = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            names = names | stored | {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        if isinstance(node, ast.Call):
            found[id(node)] = names
        for child in ast.iter_child_nodes(node):
            enter(child, names)

    enter(tree, frozenset(looped))
    return found


def _uses(tree: ast.Module) -> dict[int, tuple[str, ...]]:
    """By the call that compiles an expression, how its file uses it; as hard as can be, if that does not say so."""
    names: dict[int, set[str]] = {}
    used: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            names[id(node.value)] = {one.id for one in node.targets if isinstance(one, ast.Name)}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
            used.setdefault(node.value.id, set()).add(node.attr)
    return {
        call: tuple(sorted(ways))
        for call, own in names.items()
        if (ways := set().union(*(used.get(name, ()) for name in own))) and all(name.startswith("_") for name in own)
    }


class Text(NamedTuple):
    """A text that is long because a part of it comes again and again."""

    start: str
    again: str
    end: str

    def written(self, length: int) -> str:
        return self.start + self.again * ((length - len(self.start) - len(self.end)) // len(self.again)) + self.end

    def __str__(self) -> str:
        return f"{self.start!r} + {self.again!r} again and again + {self.end!r}"


def read(pattern: re.Pattern[Any], method: str, text: Text, length: int) -> object:
    """What the product does with it."""
    written = text.written(length)
    given = written if isinstance(pattern.pattern, str) else written.encode("latin-1", "replace")
    if method in ("sub", "subn"):
        return getattr(pattern, method)(given[:0], given)
    if method == "finditer":
        return sum(1 for _ in pattern.finditer(given))
    return getattr(pattern, method)(given)


def hostile_texts(pattern: re.Pattern[Any], method: str) -> list[Text]:
    """Texts that begin like the pattern, repeat what a part of it repeats, and end with what fits nowhere."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    if not _has_repeats(tree):
        return []
    alphabet = _Alphabet(tree)
    repeats = list(_repeats(tree, "", alphabet))
    ends = [alphabet.fits_nowhere]
    starts_anywhere = method not in FROM_THE_START
    found: dict[Text, None] = {}
    for start, pumps in repeats:
        for pump in pumps:
            for end in ends:
                found[Text(start, pump, end)] = None
                if starts_anywhere:
                    found[Text("", pump, end)] = None
        if starts_anywhere and start:  # a new beginning at each place
            found[Text("", start, ends[0])] = None
    return list(found)


class _Alphabet:
    """The characters that the pattern tells apart, one of each kind."""

    _ORDER = "a0A f_-./\\:=,;'\"\n\t%*[]{}()<>!"
    _ALL = list(dict.fromkeys(_ORDER + "".join(map(chr, range(128))) + "é\u2028ж"))

    def __init__(self, tree: _parser.SubPattern) -> None:
        self._state = tree.state
        self._in_bytes = isinstance(tree.state.str, bytes)
        self._accepted: dict[str, frozenset[str]] = {}
        for leaf in _leaves(tree):
            self.accepted(leaf)
        kinds: dict[tuple[bool, ...], str] = {}
        for one in self._ALL:
            kinds.setdefault(tuple(one in chars for chars in self._accepted.values()), one)
        self.kinds = list(kinds.values())
        self.fits_nowhere = next((one for kind, one in kinds.items() if not any(kind)), "")

    def accepted(self, leaf: tuple) -> frozenset[str]:
        name = repr(leaf)
        if name not in self._accepted:
            compiled = _compiler.compile(_parser.SubPattern(self._state, [leaf]), 0)
            given = [one.encode("latin-1", "replace") if self._in_bytes else one for one in self._ALL]
            self._accepted[name] = frozenset(
                one for one, text in zip(self._ALL, given, strict=True) if compiled.fullmatch(text)
            )
        return self._accepted[name]

    def of(self, leaf: tuple) -> list[str]:
        accepted = self.accepted(leaf)
        return [one for one in self.kinds if one in accepted]


_LEAVES = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY)
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


def _inner(node: tuple) -> list[_parser.SubPattern]:
    """What a node is made of; several, if it is one or another."""
    kind, value = node
    if kind in _REPEATS:
        return [value[2]]
    if kind is _constants.BRANCH:
        return list(value[1])
    if kind is _constants.SUBPATTERN:
        return [value[3]]
    if kind is _constants.ATOMIC_GROUP:
        return [value]
    if kind in (_constants.ASSERT, _constants.ASSERT_NOT):
        return [value[1]]
    return []


def _has_repeats(nodes: Iterable[tuple]) -> bool:
    return any((node[0] in _REPEATS and node[1][1] >= MANY) or any(map(_has_repeats, _inner(node))) for node in nodes)


def _leaves(nodes: Iterable[tuple]) -> Iterator[tuple]:
    for node in nodes:
        if node[0] in _LEAVES:
            yield node
        for inner in _inner(node):
            yield from _leaves(inner)


def _samples(nodes: Iterable[tuple], alphabet: _Alphabet, most: int = 6) -> list[str]:
    """Some texts that fit, short ones first."""
    parts: list[list[str]] = []
    for node in nodes:
        kind, value = node
        if kind in _LEAVES:
            parts.append(alphabet.of(node)[:1] or ["?"])
        elif kind in _REPEATS:
            least, inner = value[0], _samples(value[2], alphabet, 3)
            parts.append([inner[0] * least] if least else ["", *inner[:1]])
        elif kind in (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT, _constants.GROUPREF):
            parts.append([""])
        else:
            parts.append([one for inner in _inner(node) for one in _samples(inner, alphabet, most)] or [""])
    found = dict.fromkeys("".join(one) for one in islice(product(*parts), most * 4))
    return sorted(found, key=len)[:most]


def _repeats(nodes: Iterable[tuple], start: str, alphabet: _Alphabet) -> Iterator[tuple[str, list[str]]]:
    """Each part that may come often: a text that leads to it, and what it can repeat."""
    for node in nodes:
        if node[0] in _REPEATS and node[1][1] >= MANY:
            body = node[1][2]
            chars = [one for leaf in _leaves(body) for one in alphabet.of(leaf)]
            pumps = dict.fromkeys([*(one for one in _samples(body, alphabet) if one), *chars])
            yield start, list(pumps)
        for inner in _inner(node):
            yield from _repeats(inner, start, alphabet)
        start += (_samples([node], alphabet) or [""])[0]


@cache
def everything() -> tuple[tuple[Expression, ...], tuple[Runtime, ...]]:
    constants: list[Expression] = []
    runtime: list[Runtime] = []
    for path in sources():
        some, others = found_in(path)
        constants += some
        runtime += others
    return tuple(constants), tuple(runtime)
