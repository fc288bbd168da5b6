"""The pages of the documentation: at PUNCTUAL["DOCS_URL"], in the package, or in the folder docs of a checkout."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

_HERE = Path(__file__).parent
DOCS = next((one for one in (_HERE / "docs", _HERE.parent / "docs") if one.is_dir()), _HERE / "docs")
_INDEX, _CONTRIBUTING = "README", "contributing/"
_ANSWERS = re.compile(r"(?:This page answers: )?(.*?[.?!])(?:\s|$)", re.DOTALL)


class Page(NamedTuple):
    name: str  # such as deploy or moving/rq
    about: str  # its first sentence
    file: Path


def page(name: str) -> str:
    """Where a reader finds this page, for a sentence: its address, or the command that prints it."""
    given = getattr(settings, "PUNCTUAL", None)
    address = given.get("DOCS_URL") if isinstance(given, Mapping) else None
    if isinstance(address, str) and address:
        return f"{address.rstrip('/')}/{name}.md"
    return f"`manage.py punctual_help {name}`"


def pages() -> list[Page]:
    """All that are installed, by name."""
    names = {one.relative_to(DOCS).with_suffix("").as_posix(): one for one in DOCS.rglob("*.md")}
    return [
        Page(name, _first_sentence(file.read_text()), file)
        for name, file in sorted(names.items())
        if name != _INDEX and not name.startswith(_CONTRIBUTING)
    ]


def _first_sentence(text: str) -> str:
    paragraph = next((part for part in text.split("\n\n")[1:] if part and part[0] not in "#|!`<-"), "")
    plain = re.sub(r"\[([^][]*)\]\([^()]*\)", r"\1", " ".join(paragraph.replace("**", "").split()))
    found = _ANSWERS.match(plain)
    sentence = found[1] if found else plain
    return sentence[:1].upper() + sentence[1:]
