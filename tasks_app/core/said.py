"""A sentence that knows what it was made of, so that a page can say it in another language. Everywhere else it is a
string like any other, in English."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from .phrases import span


class Said(str):
    """Values may be such sentences themselves, and lengths of time."""

    words: str
    plural: str  # empty: nothing is counted
    count: int  # type: ignore[assignment]  # a sentence is not searched: str.count is not needed
    values: dict[str, object]

    def again(self, translated: Callable[[str, str, int], str], spanned: Callable[[timedelta], str]) -> str:
        """In another language: `translated` gives the words of it, for a count where there is one."""

        def told(value: object) -> object:
            if isinstance(value, Said):
                return value.again(translated, spanned)
            return spanned(value) if isinstance(value, timedelta) else value

        values = {name: told(value) for name, value in self.values.items()}
        return translated(self.words, self.plural, self.count).format(**values)


def said(words: str, /, **values: object) -> Said:
    """`words` has holes for the values, as `str.format` has them; `make messages` finds them where they are written."""
    return _made(words, words, "", 1, values)


def said_of(one: str, many: str, count: int, /, **values: object) -> Said:
    """The same, of one thing or of many."""
    return _made(one if count == 1 else many, one, many, count, values)


def joined(*parts: str) -> Said:
    """Sentences one after the other; those that are empty are left out."""
    values: dict[str, object] = {f"part{number}": part for number, part in enumerate(parts) if part}
    words = " ".join(f"{{{name}}}" for name in values)
    return _made(words, words, "", 1, values)


def packed(sentence: Said) -> dict[str, object]:
    """As it can be stored as JSON."""

    def told(value: object) -> object:
        if isinstance(value, Said):
            return packed(value)
        if isinstance(value, timedelta):
            return {"seconds": value.total_seconds()}
        return value if isinstance(value, str | int | float | None) else str(value)

    values = {name: told(value) for name, value in sentence.values.items()}
    return {"words": sentence.words, "plural": sentence.plural, "count": sentence.count, "values": values}


def unpacked(stored: Mapping[str, Any]) -> Said:
    def told(value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return timedelta(seconds=value["seconds"]) if "seconds" in value else unpacked(value)

    words, plural, count = stored["words"], stored["plural"], stored["count"]
    shown = plural if plural and count != 1 else words
    return _made(shown, words, plural, count, {name: told(value) for name, value in stored["values"].items()})


def _made(shown: str, words: str, plural: str, count: int, values: dict[str, object]) -> Said:
    told = {name: span(value) if isinstance(value, timedelta) else value for name, value in values.items()}
    made = Said(shown.format(**told))
    made.words, made.plural, made.count, made.values = words, plural, count, values
    return made
