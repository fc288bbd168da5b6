"""The settings of the articles with their units and defaults, read from settings.ARTICLES and checked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from django_punctual.settings import Section, figure, reader

from .errors import InvalidArticleSettings


@dataclass(frozen=True)
class Conf(Section):
    SETTING: ClassVar[str] = "ARTICLES"
    ERROR: ClassVar[type[Exception]] = InvalidArticleSettings

    MODERATION_URL: str = ""  # empty: the local rule list decides
    MODERATION_TOKEN: str = ""  # sent as a bearer token
    CONNECT_SECONDS: float = 3.0
    READ_SECONDS: float = 5.0  # longest silence of the service
    TOTAL_SECONDS: float = 8.0  # longest call, however steadily the answer drips
    ANSWER_MAX_BYTES: int = 65_536
    RETRY_AFTER_MAX_SECONDS: float = 300.0  # a service that asks for more is asked again after this
    AUDIT_LEAD_SECONDS: float | None = None  # None: audit at once; else this long before publish_time
    FORBIDDEN_WORDS: tuple[str, ...] = ("forbidden",)  # the local rule list

    def _problems(self) -> Iterator[str]:
        yield from self._bad_texts()
        for name in SECONDS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                yield f'ARTICLES["{name}"] is {value!r}; it must be more than 0.'
            elif value > MOST_SECONDS:
                yield f'ARTICLES["{name}"] is {figure(value)}; it must be at most {MOST_SECONDS:,}.'
        most = self.ANSWER_MAX_BYTES
        if isinstance(most, bool) or not isinstance(most, int) or not 0 < most <= MOST_BYTES:
            yield f'ARTICLES["ANSWER_MAX_BYTES"] is {most!r}; it must be a whole number from 1 to {MOST_BYTES:,}.'
        lead = self.AUDIT_LEAD_SECONDS
        if lead is not None and (isinstance(lead, bool) or not isinstance(lead, int | float) or not 0 <= lead < 1e9):
            yield (
                f"AUDIT_LEAD_SECONDS is {lead!r}; it must be empty to audit at once, or zero or more seconds "
                "before the publish time."
            )
        if isinstance(self.TOTAL_SECONDS, int | float) and self.TOTAL_SECONDS >= HANDLER_SECONDS:
            yield (
                f'ARTICLES["TOTAL_SECONDS"] is {figure(self.TOTAL_SECONDS)}, but the audit itself is stopped after '
                f"{HANDLER_SECONDS:g}. Lower it."
            )

    def _bad_texts(self) -> Iterator[str]:
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
            yield "MODERATION_TOKEN has characters no HTTP header can have; it must be printable ASCII on one line."
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


from_settings = Conf.from_settings
conf = reader(Conf)
