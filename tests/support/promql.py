"""Which metrics and labels an expression of PromQL uses. It knows the grammar that ours need, and refuses the rest."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r'\s+|(?P<string>"(?:\\.|[^"\\])*")|(?P<range>\[[0-9a-z]+\])|(?P<number>\d+(?:\.\d+)?(?:ms|[smhdwy])?)'
    r"|(?P<name>[A-Za-z_:][\w:]*)|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){},])"
)
_FUNCTIONS = {
    *("absent", "histogram_quantile", "increase", "rate", "vector"),
    *("avg", "bottomk", "count", "max", "min", "sum", "topk"),
}
_WITH_LABELS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
_WORDS = {"and", "or", "unless", "bool", "offset"}
_MATCHES = ("=", "!=", "=~", "!~")


class NotUnderstood(ValueError):
    pass


@dataclass
class Selector:
    metric: str
    matchers: list[tuple[str, str, str]] = field(default_factory=list)  # a label, how it is compared, with what


@dataclass
class Expression:
    selectors: list[Selector]
    labels: set[str]  # that it groups or joins by


def parsed(text: str) -> Expression:
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [*_tokens(text), ("end", "")]
        self._at = 0

    def parse(self) -> Expression:
        found, labels, depth = [], set(), 0
        while self._kind != "end":
            kind, word = self._take()
            if word in "()" and kind == "sign":
                depth += 1 if word == "(" else -1
                self._need(depth >= 0, word)
            elif kind == "name" and word in _WITH_LABELS:
                labels |= set(self._listed())
            elif kind == "name" and word not in _WORDS:
                if self._word == "(" or self._word in _WITH_LABELS:
                    self._need(word in _FUNCTIONS, word)
                else:
                    found.append(Selector(word, self._matchers()))
            else:
                self._need(kind != "sign" or word not in "{}=~", word)
        self._need(depth == 0 and bool(found), "its end")
        return Expression(found, labels)

    def _listed(self) -> Iterator[str]:
        self._sign("(")
        while self._word != ")":
            kind, word = self._take()
            self._need(kind == "name", word)
            yield word
            if self._word == ",":
                self._take()
        self._sign(")")

    def _matchers(self) -> list[tuple[str, str, str]]:
        found = []
        if self._word != "{":
            return found
        self._sign("{")
        while self._word != "}":
            (kind, label), (_, how), (of_value, value) = self._take(), self._take(), self._take()
            self._need(kind == "name" and how in _MATCHES and of_value == "string", label)
            found.append((label, how, value[1:-1]))
            if self._word == ",":
                self._take()
        self._sign("}")
        return found

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _word(self) -> str:
        return self._tokens[self._at][1]

    def _take(self) -> tuple[str, str]:
        self._need(self._kind != "end", "its end")
        self._at += 1
        return self._tokens[self._at - 1]

    def _sign(self, wanted: str) -> None:
        self._need(self._take()[1] == wanted, wanted)

    def _need(self, right: bool, what: str) -> None:
        if not right:
            raise NotUnderstood(f"{what!r} in {self._text!r}")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise NotUnderstood(f"{text[at : at + 10]!r} in {text!r}")
        at = found.end()
        if found.lastgroup:
            yield found.lastgroup, found[0]
