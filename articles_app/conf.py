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

    def _problems(self):
        parts = urlsplit(self.MODERATION_URL)
        if self.MODERATION_URL and (parts.scheme not in ("http", "https") or not parts.hostname):
            yield (
                f"MODERATION_URL is {self.MODERATION_URL!r}; it must be http://host/path or https://host/path, or "
                "empty for the local rule list."
            )
        for name in ("CONNECT_SECONDS", "READ_SECONDS", "TOTAL_SECONDS", "ANSWER_MAX_BYTES", "RETRY_AFTER_MAX_SECONDS"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                yield f'ARTICLES["{name}"] is {value!r}; it must be more than 0.'
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


HANDLER_SECONDS = 15.0


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
