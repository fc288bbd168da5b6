"""Which language a page speaks: the project's choice where it makes one, else what the browser asks for."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

ENGLISH, CHINESE = "en", "zh-hans"  # the languages that our texts are in
# What a browser calls simplified Chinese. The names of traditional Chinese are not among them.
_SIMPLIFIED = ("zh", "zh-cn", "zh-sg", "zh-my", "zh-hans")


@contextmanager
def speaking(request: HttpRequest | None) -> Iterator[None]:
    """What is said inside is said in the language of whoever asked."""
    if request is None or _is_chosen(request):
        yield
        return
    with translation.override(language_of(request)):
        yield


def language_of(request: HttpRequest) -> str:
    """What was chosen on a page before, else the first of ours that the browser asks for, else the project's."""
    usual = settings.LANGUAGE_CODE
    if not is_bilingual():
        return usual if _ours(usual) else ENGLISH
    asked = [request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, ""), *_accepted(request), usual]
    found = next((ours for one in asked if (ours := _ours(one))), ENGLISH)
    return usual if found == _ours(usual) else found  # "en-us" and not "en", if that is the project's


def is_bilingual() -> bool:
    """A project that leaves Chinese out of its LANGUAGES has English pages."""
    return settings.USE_I18N and CHINESE in dict(settings.LANGUAGES)


def speaks_chinese() -> bool:
    """What is said now, for the few sentences that are not the same in both languages."""
    return translation.get_language() == CHINESE


def told_by(request: HttpRequest, response: HttpResponse) -> None:
    """For what keeps answers in between: this one depends on the browser."""
    if not _is_chosen(request):
        patch_vary_headers(response, ("Accept-Language", "Cookie"))


def _is_chosen(request: HttpRequest) -> bool:
    return hasattr(request, "LANGUAGE_CODE")  # a LocaleMiddleware has


def _ours(code: str) -> str | None:
    code = code.lower()
    if code == ENGLISH or code.startswith(f"{ENGLISH}-"):
        return ENGLISH
    return CHINESE if code in _SIMPLIFIED or code.startswith(f"{CHINESE}-") else None


def _accepted(request: HttpRequest) -> list[str]:
    """The languages of the Accept-Language header, the most wanted first."""
    ranked = []
    for part in request.headers.get("Accept-Language", "")[:500].split(","):
        name, _, quality = part.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if weight > 0:
            ranked.append((weight, name.strip()))
    return [name for _, name in sorted(ranked, key=lambda one: -one[0])]
