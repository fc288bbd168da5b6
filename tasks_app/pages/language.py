"""Which language a page speaks: the project's choice where it makes one, else what the browser asks for."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest
from django.utils import translation


@contextmanager
def speaking(request: HttpRequest | None) -> Iterator[None]:
    """For the pages whose texts are translated. The others are English, whatever the browser asks for."""
    if request is None or hasattr(request, "LANGUAGE_CODE"):  # a LocaleMiddleware has chosen already
        yield
        return
    with translation.override(translation.get_language_from_request(request)):
        yield
