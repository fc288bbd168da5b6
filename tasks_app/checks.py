"""Django system checks: the configuration and the declared handlers make sense together."""

import ssl
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core import checks

from .conf import Conf, conf, from_settings
from .core.errors import InvalidConfiguration, nearest
from .core.handlers import REGISTRY, Handler
from .sealing import keyring


def check_configuration(**_: object) -> list[checks.CheckMessage]:
    found = []
    try:
        given = from_settings(getattr(settings, "PUNCTUAL", {}))
    except InvalidConfiguration as error:
        found += [checks.Error(line, id="punctual.E001") for line in str(error).splitlines()]
    else:
        found += [*_redis_url(given.REDIS_URL), *_unknown_options(given.CELERY), *_archive(given.ARCHIVE_URL)]
        found += [*_files(given), *_allow_list(given.OUTGOING_ALLOW)]
    if not getattr(settings, "USE_TZ", True):
        found.append(checks.Error("USE_TZ is off, but due times are instants. Turn it on.", id="punctual.E003"))
    return found


def _redis_url(url: str) -> Iterator[checks.CheckMessage]:
    if not url:
        yield checks.Warning(
            'PUNCTUAL["REDIS_URL"] is empty: no beat or worker can start, and what is scheduled waits.',
            hint='PUNCTUAL = {"REDIS_URL": "redis://localhost:6379/0"}',
            id="punctual.W002",
        )


def _archive(url: str) -> Iterator[checks.CheckMessage]:
    if url and find_spec("pyarrow") is None:
        yield checks.Error(
            'PUNCTUAL["ARCHIVE_URL"] is set, but pyarrow is not installed: nothing can be archived, so nothing past '
            "its hot days is dropped, and the database grows.",
            hint="pip install 'django-punctual[archive]'",
            id="punctual.E006",
        )


def _unknown_options(options: dict[str, Any]) -> Iterator[checks.CheckMessage]:
    if not options:
        return
    from celery.app.defaults import SETTING_KEYS

    for name in options:
        if name not in SETTING_KEYS:
            yield checks.Warning(
                f'PUNCTUAL["CELERY"] has {name!r}, which is not a Celery option.{nearest(name, SETTING_KEYS)}',
                id="punctual.W003",
            )


def _files(given: Conf) -> Iterator[checks.CheckMessage]:
    try:
        keyring()
    except InvalidConfiguration as error:
        yield checks.Error(str(error), id="punctual.E007")
    if given.OUTGOING_CA_FILE:
        try:
            ssl.create_default_context(cafile=given.OUTGOING_CA_FILE)
        except OSError as error:
            yield checks.Error(
                f'PUNCTUAL["OUTGOING_CA_FILE"], {given.OUTGOING_CA_FILE}, can\'t be used: {error}',
                hint="Give a file with the certificates of your authorities, in PEM.",
                id="punctual.E008",
            )


def _allow_list(entries: Iterable[str]) -> Iterator[checks.CheckMessage]:
    if any(everything in entries for everything in ("0.0.0.0/0", "::/0")):
        yield checks.Warning(
            'PUNCTUAL["OUTGOING_ALLOW"] has a network of all addresses: whoever makes a subscription can call every '
            "service that the beats can reach, also those that trust their neighbours.",
            hint="'public' stands for all addresses of the Internet; list your own receivers beside it.",
            id="punctual.W005",
        )


def check_handlers(**_: object) -> list[checks.CheckMessage]:
    return [
        checks.Error(f"handler {handler.name!r} ({handler.declared_at}): {problem}", id="punctual.E004")
        for handler in REGISTRY
        for problem in [*handler.contradictions(), *_unknown_class(handler)]
    ]


def _unknown_class(handler: Handler) -> Iterator[str]:
    try:
        known = conf().retention_classes
    except InvalidConfiguration:
        return  # told above
    if handler.retention is not None and handler.retention not in known:
        yield (
            f'retention={handler.retention!r} is not a class in PUNCTUAL["RETENTION"].'
            f"{nearest(str(handler.retention), known)} There are: {', '.join(known)}."
        )
