"""Control characters: what is found in a text, and how it is shown instead of obeyed."""

import re

# Those of C0 and C1, which a terminal obeys; separators of lines; and what turns the direction of a text around.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_IN_LINES = re.compile("\r\n|\n|\t")


def control_in(text: str, *, lines: bool = False) -> str | None:
    """The first control character, None if there is none. `lines`: breaks of lines and tabs are fine."""
    if text.isprintable():
        return None
    found = _CONTROL.search(_IN_LINES.sub(" ", text) if lines else text)
    return found and found[0]


def visible(text: str, *, lines: bool = False) -> str:
    """The text with each control character as its escape, such as \\x1b; with `lines`, all but breaks of lines."""
    if text.isprintable():
        return text
    return _CONTROL.sub(lambda found: found[0] if lines and found[0] == "\n" else repr(found[0])[1:-1], text)
