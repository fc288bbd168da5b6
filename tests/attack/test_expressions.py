"""No text can occupy a process through a regular expression: each one in our source ends within a second of processor
time on texts of 100,000 characters that are made for it."""

import re
from collections.abc import Iterator
from functools import partial

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.support import expressions
from tests.support.cpu import Piece, too_slow
from tests.support.expressions import LENGTH, PRODUCT, ROOT, Expression, everything, found_in, hostile_texts, read

# Patterns that are put together when the code runs: where they come from, and all that they can be.
MADE_AT_RUNTIME = {
    # One for each setting of this shape; the values are an operator's.
    ("tasks_app/conf/rules.py", "pattern"): lambda: [
        (pattern, re.DOTALL, "fullmatch") for pattern, _ in _module("tasks_app.conf.rules")._SHAPES.values()
    ],
    # The scalars of YAML 1.2, in place of those of 1.1; PyYAML calls match() with each value of a file.
    ("tasks_app/engine/operations/declared_jobs/yaml_file.py", "f'(?:{_pattern})\\\\Z'"): lambda: [
        (rf"(?:{pattern})\Z", 0, "match")
        for _, pattern, _ in _module("tasks_app.engine.operations.declared_jobs.yaml_file")._SCALARS
    ],
}
# Of an address: gunicorn refuses a longer first line of a request.
ADDRESS = 4_094
# The scan sees nothing if it finds less: lower these only together with the code.
AT_LEAST, TEXTS_AT_LEAST, ADDRESSES_AT_LEAST = 115, 900, 150

# An expression in SQL stands in quotes: none is put together from values.
_IN_SQL = re.compile(
    r"(?<![<>!&|@#*?~-])!?~\*?(?![\w~<>=*-])\s*+(.{12})|\bSIMILAR TO\s(.{12})"
    r"|\bregexp_\w++\((?:[^(),]|\([^()]*\))*+,\s(.{12})"
)
_LOOKUP = re.compile(r"__i?regex\b")


def _module(name: str):
    return expressions.import_module(name)


def _pieces(found: list[Expression], length: int = LENGTH) -> list[Piece]:
    return [
        Piece(
            f"{one.where} {one.pattern.pattern!r}.{method}",
            f"{text} of {length:,} characters",
            partial(read, one.pattern, method, text, length),
        )
        for one in found
        for method in one.methods
        for text in hostile_texts(one.pattern, method)
    ]


def _told(slow: list[Piece]) -> list[str]:
    return [
        f"{piece.name} takes more than a second for the text {piece.text}. Write it so that no place is tried "
        "twice (possessive `*+`, atomic `(?>…)`, a lookbehind before its first repeat)."
        for piece in slow
    ]


def test_every_expression_takes_linear_time():
    constants, runtime = everything()
    unknown = [f"{one.where}: {one.code}" for one in runtime if one.name not in MADE_AT_RUNTIME]
    assert not unknown, f"made at run time, so that nothing tests them: {unknown}. List them in MADE_AT_RUNTIME."
    assert {one.name for one in runtime} == set(MADE_AT_RUNTIME), "of MADE_AT_RUNTIME, something is no longer there"
    made = [
        Expression(f"{file} ({code})", re.compile(pattern, flags), (method,))
        for (file, code), patterns in MADE_AT_RUNTIME.items()
        for pattern, flags, method in patterns()
    ]

    pieces = _pieces([*constants, *made])

    assert len(constants) >= AT_LEAST, f"only {len(constants)} expressions were found"
    assert len(pieces) >= TEXTS_AT_LEAST, f"only {len(pieces)} texts were made"
    assert _told(too_slow(pieces)) == []


def test_every_address_is_matched_in_linear_time():
    addresses = sorted({(pattern.pattern, pattern.flags) for pattern in _addresses(get_resolver())})
    found = [Expression("the URLconf", re.compile(*one), ("search",)) for one in addresses]

    assert len(found) >= ADDRESSES_AT_LEAST, f"only {len(found)} addresses were found"
    assert _told(too_slow(_pieces(found, ADDRESS))) == []


def _addresses(resolver: URLResolver) -> Iterator[re.Pattern[str]]:
    for one in resolver.url_patterns:
        yield one.pattern.regex
        if not isinstance(one, URLPattern):
            yield from _addresses(one)


def test_no_expression_of_a_user_reaches_postgresql():
    """It would backtrack there, in a statement that holds a connection."""
    statements = [path for package in PRODUCT for path in sorted((ROOT / package).rglob("*.sql"))]
    code = [path for path in expressions.sources() if "regexp_" in (text := path.read_text()) or " ~ " in text]
    texts = [
        (path, "\n".join(re.sub("--.*", "", line) for line in path.read_text().split("\n"))) for path in statements
    ]
    texts += [(path, path.read_text()) for path in code]
    found = [(path, next(filter(None, one.groups()))) for path, text in texts for one in _IN_SQL.finditer(text)]

    assert len(statements) >= 500 and len(found) >= 4, f"{len(found)} in {len(statements)} files"
    given = [f"{path.relative_to(ROOT)}: {text}" for path, text in found if not text.startswith(("'", "$$", "$re$"))]
    assert not given, f"the pattern is no constant: {given}. Compare with core/wildcards.py, or with LIKE."
    lookups = [str(path) for path in expressions.sources() if _LOOKUP.search(path.read_text())]
    assert not lookups, f"lookups by expression: {lookups}. Compare with core/wildcards.py, or with LIKE."


SLOW = {
    "one repeat beside another": 're.match(r"\\s*=?\\s*x", text)',
    "a repeat in a repeat": '_OF_MANY.match(text)\n_OF_MANY = re.compile(r"(?:a+b?)*c")',
    "a choice that overlaps": 're.fullmatch(r"(?:a|aa|b)*", text)',
    "a search from each place": 're.sub(r"\\w+://", "", text)',
    "a beginning without an end": "re.findall(r'<a href=\"[^>]*>', text)",
    "in bytes": 're.search(rb"[ \\t]+\\r\\n", text)',
    "as an address": 're_path(r"^(?:[a-z]+-?)+/$", view)',
}


@pytest.mark.parametrize("code", SLOW.values(), ids=SLOW)
def test_a_slow_one_is_found(tmp_path, code):
    file = tmp_path / "new.py"
    file.write_text(f"import re\n\n{code}\n")
    found, runtime = found_in(file)

    (told,) = _told(too_slow(_pieces(found), seconds=0.05))

    assert "new.py:" in told and found[0].pattern.pattern.__repr__() in told
    assert runtime == []


def test_one_that_is_made_at_runtime_is_found(tmp_path):
    file = tmp_path / "new.py"
    file.write_text("import re\n\ndef matches(pattern, text):\n    return re.fullmatch(pattern, text)\n")

    assert [one.name for one in found_in(file)[1]] == [("new.py", "pattern")]
