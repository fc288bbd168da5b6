"""Django system checks that `check --deploy` makes: the keys, and the services and processes that are needed."""

from django.conf import settings
from django.core import checks
from django.db import DatabaseError

from .conf import conf
from .core.errors import InvalidConfiguration
from .core.lanes import LANES
from .documentation import page
from .engine.celery_app import command
from .engine.wakeup import client
from .engine.watch.alarm_browse import told_to_nobody
from .engine.watch.alive import who_is_missing
from .sealing import keys_are_named


def check_secret_keys(**_: object) -> list[checks.CheckMessage]:
    try:
        if settings.DEBUG or keys_are_named():
            return []
    except InvalidConfiguration:
        return []  # another check reports it
    return [
        checks.Warning(
            'PUNCTUAL["SECRET_KEYS"] is empty: the secrets of webhooks and alarms are sealed with a key made from '
            "SECRET_KEY. Whoever has that can open them, and when it is changed, nobody can.",
            hint=f"`manage.py secrets key` makes one; {page('security')} says how to change over.",
            id="punctual.W006",
        )
    ]


def check_redis(**_: object) -> list[checks.CheckMessage]:
    """What `check --deploy` asks of the running installation."""
    try:
        if not conf().REDIS_URL:
            return []
        with client(timeout=2) as redis:
            redis.ping()
    except InvalidConfiguration:
        return []  # another check reports it
    except Exception as error:  # whatever redis-py makes of an address
        return [
            checks.Error(
                f'PUNCTUAL["REDIS_URL"] does not answer: {error}',
                hint="Beats and workers meet there. Start it, or correct the address.",
                id="punctual.E005",
            )
        ]
    return []


def check_processes(**_: object) -> list[checks.CheckMessage]:
    try:
        missing = {lane: who_is_missing(lane) for lane in LANES}
    except (DatabaseError, InvalidConfiguration):
        return []  # no tables yet, or another check reports it
    return [
        checks.Warning(
            f"Tasks of {', '.join(lanes)} will wait: {what}.",
            hint=f"{command('beat')}, and {command('worker')}, which serves all lanes unless -Q names some",
            id="punctual.W004",
        )
        for what, lanes in _lanes_by_reason(missing).items()
    ]


def check_alarms(**_: object) -> list[checks.CheckMessage]:
    try:
        untold = told_to_nobody()
    except (DatabaseError, InvalidConfiguration):
        return []  # no tables yet, or another check reports it
    hint = "Make a channel and a rule for all tenants: under Alarm rules in the console, or POST /alarms/rules."
    return [checks.Warning(untold, hint=hint, id="punctual.W007")] if untold else []


def _lanes_by_reason(missing: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for lane, what in missing.items():
        if what:
            found.setdefault(what, []).append(lane)
    return found
