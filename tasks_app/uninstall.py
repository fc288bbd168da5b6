"""What `migrate punctual zero` takes away besides the tables: what Django and Redis have noted about us."""

import logging
from collections.abc import Sequence

import redis
from django.apps.registry import Apps
from django.db import router
from django.db.migrations import Migration

from .conf import conf
from .core.errors import InvalidConfiguration
from .engine.wakeup import client

log = logging.getLogger(__name__)

_FIRST = ("punctual", "0001_initial")
_NOTES = (("admin", "LogEntry", "content_type__app_label"), ("contenttypes", "ContentType", "app_label"))


def leave_nothing(
    using: str, plan: Sequence[tuple[Migration, bool]] = (), apps: Apps | None = None, **_: object
) -> None:
    """After a migration: if it took our first one back, nobody will ask for the rest again.

    `manage.py flush`, which every TransactionTestCase does, sends the same signal without a plan.
    """
    if any(backwards and (migration.app_label, migration.name) == _FIRST for migration, backwards in plan):
        _forget_models(using, apps)
        _empty_redis(using)


def _forget_models(using: str, apps: Apps) -> None:
    """The content types, and with them the rights; the admin's log of what was done to our rows would name nothing."""
    for label, name, field in _NOTES:
        try:
            model = apps.get_model(label, name)
        except LookupError:
            continue  # nothing of the kind in this database
        if router.allow_migrate_model(using, model):
            model.objects.using(using).filter(**{field: _FIRST[0]}).delete()


def _empty_redis(using: str) -> None:
    """Unless the tables are in another database: Django notes a migration also where a router keeps it from running."""
    try:
        given = conf()
    except InvalidConfiguration:
        return  # the checks tell
    if not given.REDIS_URL or using != given.DATABASE:
        return
    try:
        with client(timeout=5) as server:
            if keys := list(server.scan_iter(given.redis_key("*"), count=1000)):
                server.unlink(*keys)
    except (redis.RedisError, ValueError) as error:
        log.warning("uninstall.redis_keys_left prefix=%s error=%r", given.redis_key(""), str(error))
