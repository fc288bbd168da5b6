"""The texts of the pages that are translated: what the code asks for, what the catalogue of an app has, and its .mo.

`make messages` writes what is missing into the catalogues, for somebody to translate, and compiles them. It needs no
gettext tools: pages must speak Chinese on a machine that has none, so the compiled catalogue is in the repository.
"""

import ast
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.template.base import Lexer, TokenType

ROOT = Path(__file__).parents[2]
APPS = ("tasks_app", "articles_app", "inventory_app")
LANGUAGE = "zh_Hans"
HEAD = (
    "Content-Type: text/plain; charset=UTF-8\\n"
    "Content-Transfer-Encoding: 8bit\\n"
    f"Language: {LANGUAGE}\\n"
    "Plural-Forms: nplurals=1; plural=0;\\n"
)
NOTE = "# The texts of the pages. After a change: make messages\n"
# How the functions of django.utils.translation take their texts: how many there are, and whether a context is first.
FUNCTIONS = {"gettext": (1, False), "gettext_lazy": (1, False), "gettext_noop": (1, False), "ngettext": (2, False)}
FUNCTIONS |= {"said": (1, False), "said_of": (2, False)}  # of the engine: tasks_app/core/said.py
FUNCTIONS |= {"ngettext_lazy": (2, False), "pgettext": (1, True), "pgettext_lazy": (1, True), "npgettext": (2, True)}
TEMPLATES = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
QUOTED = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
TRANSLATE = re.compile(rf"translate {QUOTED}(?: context {QUOTED})?(?: as \w+)?$")
BLOCK = re.compile(rf"blocktranslate\b(?!.*\btrimmed\b)(?:.*\bcontext {QUOTED})?")
ARGUMENT = re.compile(rf"_\({QUOTED}\)")
SPOKEN_ATTRIBUTES = re.compile(r'\s(?:aria-label|title|placeholder|alt)="((?:{%.*?%}|{{.*?}}|[^"])*)"', re.DOTALL)
NOT_SPOKEN = re.compile(r"\b(?:UTC|OK)\b|&\w+;|\bs\b")  # the same in every language
TAG = re.compile(r"""<[/!a-zA-Z](?:{%.*?%}|{{.*?}}|"(?:{%.*?%}|{{.*?}}|[^"])*"|[^>"])*>""", re.DOTALL)


class Text(NamedTuple):
    """What is asked for. `plural` is empty unless it is counted, `context` unless the words alone say too little."""

    words: str
    plural: str = ""
    context: str = ""

    @property
    def key(self) -> str:
        """As a catalogue has it."""
        return (f"{self.context}\4" if self.context else "") + self.words


def folder(app: str) -> Path:
    return ROOT / app / "locale" / LANGUAGE / "LC_MESSAGES"


def asked(app: str) -> set[Text]:
    """All texts that the app asks for."""
    found: set[Text] = set()
    for path in templates(app):
        found.update(in_template(path.read_text()))
    for path in (ROOT / app).rglob("*.py"):
        if "migrations" not in path.parts:
            found.update(in_code(path.read_text()))
    return found


def templates(app: str) -> list[Path]:
    return sorted((ROOT / app).rglob("*.html"))


def in_code(source: str) -> Iterator[Text]:
    if "gettext" not in source and "said" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS:
            continue
        count, contextual = FUNCTIONS[name]
        given = [one.value for one in node.args[: count + contextual] if isinstance(one, ast.Constant)]
        if len(given) == count + contextual:
            context = given.pop(0) if contextual else ""
            yield Text(given[0], given[1] if count == 2 else "", context)


def in_template(source: str) -> Iterator[Text]:
    block: list[str] | None = None
    plural: list[str] | None = None
    context = ""
    for token in Lexer(source).tokenize():
        if token.token_type in (TokenType.BLOCK, TokenType.VAR):
            for quoted in ARGUMENT.findall(token.contents):
                yield Text(_unquoted(quoted))
        if token.token_type == TokenType.BLOCK and (found := TRANSLATE.match(token.contents)):
            yield Text(_unquoted(found[1]).replace("%", "%%"), context=_unquoted(found[2] or "''"))
        elif token.token_type == TokenType.BLOCK and (found := BLOCK.match(token.contents)):
            block, plural, context = [], None, _unquoted(found[1] or "''")
        elif token.contents == "plural" and block is not None:
            plural = []
        elif token.contents == "endblocktranslate":
            yield Text("".join(block), "".join(plural or []), context)
            block = None
        elif block is not None:
            is_variable = token.token_type == TokenType.VAR
            piece = f"%({token.contents})s" if is_variable else token.contents.replace("%", "%%")
            (block if plural is None else plural).append(piece)


def unmarked(source: str) -> list[str]:
    """The texts of a template that nobody could translate: between its tags, and in what is read aloud of them."""
    source = re.sub(r"{%\s*comment.*?endcomment\s*%}", "", source, flags=re.DOTALL)
    source = re.sub(r"{%\s*blocktranslate.*?{%\s*endblocktranslate\s*%}", "", source, flags=re.DOTALL)
    pieces = [TEMPLATES.sub("", one) for one in SPOKEN_ATTRIBUTES.findall(source)]
    pieces += TEMPLATES.sub("\n", TAG.sub("\n", source)).split("\n")
    return [one.strip() for one in pieces if re.search("[A-Za-z]", NOT_SPOKEN.sub("", one))]


def read(app: str) -> dict[Text, str]:
    """The catalogue of an app as it was written: each text with its translation."""
    entries: dict[Text, str] = {}
    fields: dict[str, str] = {}
    name = ""
    for line in [*_lines(app), ""]:
        if line.startswith(("msgctxt", "msgid", "msgstr")):
            name, _, rest = line.partition(" ")
            fields[name] = _unquoted(rest)
        elif line.startswith('"'):
            fields[name] += _unquoted(line)
        elif not line and "msgid" in fields:
            text = Text(fields["msgid"], fields.get("msgid_plural", ""), fields.get("msgctxt", ""))
            entries[text] = fields.get("msgstr", fields.get("msgstr[0]", ""))
            fields = {}
    entries.pop(Text(""), None)
    return entries


def write(app: str, entries: dict[Text, str]) -> None:
    """The catalogue, in order of the texts, and what is made of it."""
    folder(app).mkdir(parents=True, exist_ok=True)
    written = [f'{NOTE}msgid ""\nmsgstr "{HEAD}"\n']
    for text, translation in sorted(entries.items(), key=lambda one: (one[0].words.lower(), one[0])):
        lines = ["#, python-format"] if re.search(r"%\(\w+\)s", text.words) else []
        lines += [f'msgctxt "{_escaped(text.context)}"'] if text.context else []
        lines += [f'msgid "{_escaped(text.words)}"']
        lines += [f'msgid_plural "{_escaped(text.plural)}"'] if text.plural else []
        lines += [f'msgstr{"[0]" if text.plural else ""} "{_escaped(translation)}"']
        written.append("\n".join(lines) + "\n")
    (folder(app) / "django.po").write_text("\n".join(written))
    (folder(app) / "django.mo").write_bytes(compiled(entries))


def compiled(entries: dict[Text, str]) -> bytes:
    """A catalogue as gettext reads it."""
    rows = {"": HEAD.replace("\\n", "\n")}
    for text, translation in entries.items():
        rows[text.key + (f"\0{text.plural}" if text.plural else "")] = translation
    pairs = sorted((key.encode(), value.encode()) for key, value in rows.items())
    start = 28 + 16 * len(pairs)
    keys, values = b"", b""
    places, translated = [], []
    for key, value in pairs:
        places += [len(key), start + len(keys)]
        keys += key + b"\0"
        translated += [len(value), len(values)]
        values += value + b"\0"
    moved = [one + start + len(keys) if number % 2 else one for number, one in enumerate(translated)]
    head = struct.pack("<Iiiiiii", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + struct.pack(f"<{4 * len(pairs)}i", *places, *moved) + keys + values


def _lines(app: str) -> list[str]:
    path = folder(app) / "django.po"
    return path.read_text().splitlines() if path.exists() else []


def _unquoted(text: str) -> str:
    return ast.literal_eval(text.strip())


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def main() -> None:
    missing = 0
    for app in APPS:
        known = read(app)
        entries = {text: known.get(text, "") for text in asked(app)}
        write(app, entries)
        untranslated = sorted(text.words for text, translation in entries.items() if not translation)
        missing += len(untranslated)
        sys.stdout.write(f"{app}: {len(entries)} texts, {len(untranslated)} to translate\n")
        sys.stdout.writelines(f"  {one}\n" for one in untranslated)
    sys.exit(missing > 0)


if __name__ == "__main__":
    main()
