"""The settings of the articles with their units and defaults, read from settings.ARTICLES and checked."""

from dataclasses import dataclass, fields
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.core.signals import setting_changed
from django.dispatch import receiver

from .errors import InvalidArticleSettings


@dataclass(frozen=True)
class Conf:
    MODERATION_URL: str = ""  # empty: the local rule list decides
    MODERATION_TOKEN: str = ""  # sent as a bearer token
    CONNECT_SECONDS: float = 3.0
    READ_SECONDS: float = 5.0  # longest silence of the service
    TOTAL_SECONDS: float = 8.0  # longest call, however steadily the answer drips
    ANSWER_MAX_BYTES: int = 65_536
    RETRY_AFTER_MAX_SECONDS: float = 300.0  # a service that asks for more is asked again after this
    AUDIT_LEAD_SECONDS: float | None = None  # None: audit at once; else so long before publish_time
    FORBIDDEN_WORDS: tuple[str, ...] = ("forbidden",)  # the local rule list

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise InvalidArticleSettings("\n".join(problems))
        for name in (*SECONDS, "AUDIT_LEAD_SECONDS"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))
        object.__setattr__(self, "FORBIDDEN_WORDS", tuple(self.FORBIDDEN_WORDS))

    def _problems(self):
        yield from self._bad_texts()
        for name in SECONDS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                yield f'ARTICLES["{name}"] is {value!r}; it must be more than 0.'
            elif value > MOST_SECONDS:
                yield f'ARTICLES["{name}"] is {value:g}; it must be at most {MOST_SECONDS:,}.'
        most = self.ANSWER_MAX_BYTES
        if isinstance(most, bool) or not isinstance(most, int) or not 0 < most <= MOST_BYTES:
            yield f'ARTICLES["ANSWER_MAX_BYTES"] is {most!r}; it must be a whole number from 1 to {MOST_BYTES:,}.'
        lead = self.AUDIT_LEAD_SECONDS
        if lead is not None and (isinstance(lead, bool) or not isinstance(lead, int | float) or not 0 <= lead < 1e9):
            yield (
                f"AUDIT_LEAD_SECONDS is {lead!r}; it must be empty for an audit at once, or zero or more seconds "
                "before the publish time."
            )
        if isinstance(self.TOTAL_SECONDS, int | float) and self.TOTAL_SECONDS >= HANDLER_SECONDS:
            yield (
                f'ARTICLES["TOTAL_SECONDS"] is {self.TOTAL_SECONDS:g}, but the audit itself is ended after '
                f"{HANDLER_SECONDS:g}. Lower it."
            )

    def _bad_texts(self):
        url, token, words = self.MODERATION_URL, self.MODERATION_TOKEN, self.FORBIDDEN_WORDS
        if not isinstance(url, str):
            yield f"MODERATION_URL is {url!r}; it must be a string, empty for the local rule list."
        elif url and not _is_address(url):
            yield (
                f"MODERATION_URL is {url!r}; it must be http://host/path or https://host/path, or empty for the local "
                "rule list."
            )
        if not isinstance(token, str):
            yield f"MODERATION_TOKEN is a {type(token).__name__}; it must be a string."
        elif not (token.isascii() and token.isprintable()):
            yield "MODERATION_TOKEN has characters that no header can have; it must be printable ASCII on one line."
        # A string would be a list of letters, each of them forbidden.
        if not isinstance(words, list | tuple) or not all(isinstance(word, str) and word for word in words):
            yield f'ARTICLES["FORBIDDEN_WORDS"] is {words!r}; it must be a list of words, such as ["forbidden"].'


HANDLER_SECONDS = 15.0
SECONDS = ("CONNECT_SECONDS", "READ_SECONDS", "TOTAL_SECONDS", "RETRY_AFTER_MAX_SECONDS")
MOST_SECONDS, MOST_BYTES = 86_400, 100_000_000


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def from_settings(values: dict) -> Conf:
    known = {field.name for field in fields(Conf)}
    for name in values:
        if name not in known:
            raise InvalidArticleSettings(f'ARTICLES["{name}"] is no setting; there are {", ".join(sorted(known))}.')
    return Conf(**values)


@cache
def conf() -> Conf:
    return from_settings(getattr(settings, "ARTICLES", {}))


@receiver(setting_changed)
def _forget(*, setting: str, **_: object) -> None:
    if setting == "ARTICLES":
        conf.cache_clear()
