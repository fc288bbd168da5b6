"""What the knobs must be beside their ranges: their types and shapes, and what one says of another."""

import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from tasks_app.core import (
    allow_list,
    archive_url,
    audit_keys,
    events,
    keyring,
    log_url,
    networks,
    redis_url,
    retention,
    retry_budget,
    safeguard_options,
    safeguards,
)
from tasks_app.core.errors import nearest, shown

from . import celery_options
from .ranges import out_of_range

if TYPE_CHECKING:
    from .knobs import Conf

SITE_NAME, SITE_RULE = r"[\w.-]{1,50}", "at most 50 letters, digits and any of _ . -, such as 'b'"
PING_TROUBLES = ("fail", "silent", "ignore")
_ADDRESS = r"(https?://[^\s/?#]+(/[^\s?#]*)?)?"
_SHAPES = {  # of strings whose values may be told: how they look, and in words
    "CONSOLE_URL": (_ADDRESS, "the address at which people open the console, such as https://ops.example.com/admin/"),
    "DOCS_URL": (
        _ADDRESS,
        "the address of the folder that has the pages of the documentation, such as https://docs.example.com/punctual",
    ),
    "API_URL": (
        _ADDRESS,
        "the address at which other systems find the API, such as https://scheduler.example.com/api/v1",
    ),
    "RELEASE": (
        r"(?a:[\w.+-]{0,80})",
        "at most 80 letters, digits and any of _ . + -, such as '2026.11.3' or a commit",
    ),
    "PREFIX": (r"(?a:[\w.:{}-]{1,64})", "1 to 64 letters, digits and any of _ . : { } -, such as 'shop-punctual'"),
    "ENVIRONMENT": (r"(?a:[\w.-]{0,100})", "at most 100 letters, digits and any of _ . -, such as 'production'"),
    "SITE": (f"(?a:{SITE_NAME})?", SITE_RULE),
    "BACKUP_SPOOL": (r"(/.*)?", "a whole path, such as /var/lib/punctual/spool"),
    "BACKUP_PROGRAMS": (r"(/.*)?", "a whole path, such as /usr/lib/postgresql/18/bin"),
}
_TEXTS, _KEYS = tuple[str, ...], tuple[Any, ...]
_TYPES: dict[Any, tuple[type | tuple[type, ...], str]] = {  # of knobs: what is taken for it, and in words
    str: (str, "string"),
    int: (int, "whole number"),
    float: ((int, float), "number"),
    dict[str, Any]: (dict, "dict"),
    _TEXTS: ((list, tuple), "list of strings"),
    _KEYS: ((list, tuple), "list of keys"),
}


def problems_of(conf: "Conf") -> Iterator[str]:
    """A sentence for each value that won't do. Of wrong types nothing more can be said."""
    if wrong := list(_wrong_types(conf)):
        yield from wrong
        return
    for rule in _RULES:
        yield from rule(conf)


def _wrong_types(conf: "Conf") -> Iterator[str]:
    for knob in fields(conf):
        value, (accepted, words) = getattr(conf, knob.name), _TYPES[knob.type]
        if isinstance(value, bool) or not isinstance(value, accepted):
            told = shown(value) if knob.repr else f"a {type(value).__name__}"  # some hold secrets
            yield f'PUNCTUAL["{knob.name}"] is {told}; it must be a {words}.'


def _endless(value: object) -> bool:
    """A whole number that is larger than any float."""
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _wrong_shapes(conf: "Conf") -> Iterator[str]:
    for name, (pattern, words) in _SHAPES.items():
        if not re.fullmatch(pattern, value := getattr(conf, name), re.DOTALL):
            yield f'PUNCTUAL["{name}"] is {shown(value)}; it must be {words}.'


def _wrong_by_their_kind(conf: "Conf") -> Iterator[str]:
    """Values whose rules stand where they are read."""
    if conf.REDIS_URL:
        yield from redis_url.problems_of(conf.REDIS_URL, 'PUNCTUAL["REDIS_URL"]')
    if conf.ARCHIVE_URL:
        yield from archive_url.problems_of(conf.ARCHIVE_URL)
    yield from log_url.problems_of(conf.LOG_URL)
    yield from retention.problems_of(conf.RETENTION)
    yield from retry_budget.problems_of(conf.RETRY_BUDGETS)
    yield from safeguard_options.problems_of(conf.SAFEGUARDS)
    yield from safeguards.wrong_peaks(conf.DAILY_PROFILE)
    yield from events.problems_of(conf.EVENTS, 'PUNCTUAL["EVENTS"]')
    yield from allow_list.problems_of(conf.OUTGOING_ALLOW)
    yield from networks.problems_of(conf.METRICS_ALLOW, 'PUNCTUAL["METRICS_ALLOW"]')
    yield from networks.problems_of(conf.DATABASE_ADDRESSES, 'PUNCTUAL["DATABASE_ADDRESSES"]')
    yield from keyring.problems_of(conf.SECRET_KEYS)
    yield from celery_options.problems_of(conf.CELERY)


def _wrong_database(conf: "Conf") -> Iterator[str]:
    if conf.DATABASE not in (known := {*settings.DATABASES, DEFAULT_DB_ALIAS}):
        yield (
            f'PUNCTUAL["DATABASE"] is {shown(conf.DATABASE)}, which is not an alias in DATABASES.'
            f"{nearest(conf.DATABASE, known)} There are: {', '.join(sorted(known))}."
        )


def _wrong_ping(conf: "Conf") -> Iterator[str]:
    if conf.PING_URL and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s#]*)?", conf.PING_URL):
        # Not its value: the path may be all the secret there is.
        yield (
            'PUNCTUAL["PING_URL"] is not an address that can be called; it must be like '
            "https://hc-ping.com/4d5c2f1e-…, without a fragment."
        )
    if conf.PING_TROUBLE not in PING_TROUBLES:
        yield (
            f'PUNCTUAL["PING_TROUBLE"] is {shown(conf.PING_TROUBLE)}; it must be one of '
            f"{', '.join(PING_TROUBLES)}: call the address with /fail, don't call it, or call it as always."
        )


def _wrong_brokers(conf: "Conf") -> Iterator[str]:
    for name, url in conf.BROKERS.items():
        if not isinstance(name, str) or not isinstance(url, str) or not re.fullmatch(r"[\w+]+://.*", url):
            # Only its name: the rest may hold a password.
            yield (
                f'PUNCTUAL["BROKERS"] has {shown(name)} without an address that kombu understands; it must be like '
                '{"billing": "amqp://user:password@host/"}.'
            )


def _wrong_audit(conf: "Conf") -> Iterator[str]:
    yield from audit_keys.problems_of(conf.AUDIT_KEYS)
    setting = 'PUNCTUAL["AUDIT_ANCHOR_URLS"]'
    for number, url in enumerate(conf.AUDIT_ANCHOR_URLS, start=1):
        if not isinstance(url, str):
            yield f"{setting} has {shown(url)}; each must be a string."
        elif re.match(r"https?://", url):
            if not re.fullmatch(r"https?://[^\s/?#]+(/[^\s#]*)?", url):
                # Not its value: the path may be all the secret there is.
                yield f"{setting}: entry {number} can't be called; it must be like https://audit.example.com/in."
        else:
            yield from archive_url.problems_of(url, setting)
    if conf.AUDIT_ANCHOR_URLS and not (conf.AUDIT_KEYS or conf.AUDIT_KEYS_FILE):
        yield (
            f"{setting} is set, but no key signs anchors. Make one with `manage.py audit keys --new`, "
            'and put it into PUNCTUAL["AUDIT_KEYS"] or the file that AUDIT_KEYS_FILE names.'
        )


def _wrong_backup(conf: "Conf") -> Iterator[str]:
    setting = 'PUNCTUAL["BACKUP_URLS"]'
    for url in conf.BACKUP_URLS:
        if not isinstance(url, str):
            yield f"{setting} has {shown(url)}; each must be a string."
            return
        yield from archive_url.problems_of(url, setting)
    shown_urls = [archive_url.outward(url) for url in conf.BACKUP_URLS]
    if len(set(shown_urls)) < len(shown_urls):
        yield f"{setting} names a place twice; a second copy in the same place protects from nothing."
    if conf.BACKUP_URLS and not conf.BACKUP_SPOOL:
        yield (
            f'{setting} is set, but PUNCTUAL["BACKUP_SPOOL"] is empty; the log needs a folder in which it arrives '
            "before it is taken to the places. Set it to one such as /var/lib/punctual/spool."
        )
    if conf.BACKUP_DATABASE_URL and not re.match(r"postgres(ql)?://", conf.BACKUP_DATABASE_URL):
        # Not its value: it may hold a password.
        yield 'PUNCTUAL["BACKUP_DATABASE_URL"] must be like postgresql://user:password@host:5432/name.'


def _wrong_together(conf: "Conf") -> Iterator[str]:
    """Numbers that are allowed each, but not beside another."""
    if any(_endless(getattr(conf, knob.name)) for knob in fields(conf)):
        return  # out of range, and in no sentence beside another
    if conf.KEEP_OUTBOX_MOST_DAYS < conf.KEEP_OUTBOX_DAYS:
        yield (
            f'PUNCTUAL["KEEP_OUTBOX_MOST_DAYS"] is {conf.KEEP_OUTBOX_MOST_DAYS:g} but KEEP_OUTBOX_DAYS is '
            f"{conf.KEEP_OUTBOX_DAYS:g}; events that somebody waits for can't be kept for less than the others. "
            f"Set it to {conf.KEEP_OUTBOX_DAYS:g} or more."
        )
    if conf.RUN_LEASE_SECONDS <= 2 * conf.HEARTBEAT_SECONDS:
        yield (
            f'PUNCTUAL["RUN_LEASE_SECONDS"] is {conf.RUN_LEASE_SECONDS:g} but HEARTBEAT_SECONDS is '
            f"{conf.HEARTBEAT_SECONDS:g}; a lease must outlive two heartbeats. "
            f"Set it to more than {2 * conf.HEARTBEAT_SECONDS:g}."
        )
    if conf.NODE_TTL_SECONDS <= 2 * conf.NODE_SECONDS:
        yield (
            f'PUNCTUAL["NODE_TTL_SECONDS"] is {conf.NODE_TTL_SECONDS:g} but NODE_SECONDS is '
            f"{conf.NODE_SECONDS:g}; a process must miss two reports before it counts as gone. "
            f"Set it to more than {2 * conf.NODE_SECONDS:g}."
        )
    if conf.PLAN_AHEAD_SECONDS < 2 * conf.PLAN_SECONDS:
        yield (
            f'PUNCTUAL["PLAN_AHEAD_SECONDS"] is {conf.PLAN_AHEAD_SECONDS:g} but PLAN_SECONDS is '
            f"{conf.PLAN_SECONDS:g}; a planner must look twice before a firing is due. "
            f"Set it to {2 * conf.PLAN_SECONDS:g} or more."
        )
    if conf.BATCH_UNSEEN > conf.BATCH_MAX:
        yield (
            f'PUNCTUAL["BATCH_UNSEEN"] is {conf.BATCH_UNSEEN} but BATCH_MAX is {conf.BATCH_MAX}; '
            "the first batch of a type can't be larger than any batch. Lower it."
        )


_RULES = (
    out_of_range,
    _wrong_shapes,
    _wrong_by_their_kind,
    _wrong_database,
    _wrong_ping,
    _wrong_brokers,
    _wrong_backup,
    _wrong_audit,
    _wrong_together,
)
