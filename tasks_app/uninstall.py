"""`migrate APP_LABEL zero`: refuses while beats or workers run, and takes away what the migration leaves.

A migration drops our tables. What Django and Redis have noted about us, and the rights of our roles, go after it.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

import redis
from django.apps import AppConfig
from django.apps.registry import Apps
from django.core.management.base import CommandError
from django.db import router
from django.db.migrations import Migration

from .conf import conf
from .core.errors import InvalidConfiguration
from .database import our_connection
from .engine.wakeup import client
from .sql import execute
from .storage.leaving import revoke_all

log = logging.getLogger(__name__)

Plan = Sequence[tuple[Migration, bool]]

_FIRST = "0001_initial"
_NOTES = (("admin", "LogEntry", "content_type__app_label"), ("contenttypes", "ContentType", "app_label"))
_PAUSE_SECONDS = 0.2
_KEYS_AT_ONCE = 1_000
_INSTALLED = "SELECT to_regclass('punctual_node') IS NOT NULL"
_SEEN = """
SELECT node_id, lower(kind) || ' ' || name, seen_at FROM punctual_node
WHERE seen_at > clock_timestamp() - make_interval(secs => %(ttl)s) ORDER BY 2
"""
_SLOT = "SELECT active FROM pg_replication_slots WHERE slot_name = %(slot)s"


def _pause() -> None:
    time.sleep(_PAUSE_SECONDS)


def refuse_while_running(
    app_config: AppConfig,
    using: str,
    plan: Plan = (),
    verbosity: int = 1,
    stdout: TextIO | None = None,
    pause: Callable[[], None] = _pause,
    **_: object,
) -> None:
    """Before a migration that drops our tables."""
    if not _removes_all(app_config, plan) or not _is_ours(using) or not _is_installed():
        return
    if running := [*_streaming_backup(), *still_running(stdout if verbosity else None, pause)]:
        raise CommandError(
            f"Punctual still runs: {', '.join(running)}. Stop all beats and workers, and run this again. Nothing was "
            "changed."
        )


def still_running(stdout: TextIO | None, pause: Callable[[], None]) -> list[str]:
    """The beats and workers that report themselves once more. One that was killed is silent, and counts as live for
    NODE_TTL_SECONDS; one that stops leaves the list by itself."""
    known = {node: seen_at for node, _, seen_at in _seen()}
    if known and stdout:
        stdout.write(f"  Waiting up to {conf().NODE_TTL_SECONDS:g} s to see whether a beat or worker still runs.\n")
    while seen := _seen():
        if running := [name for node, name, seen_at in seen if known.get(node) != seen_at]:
            return running
        pause()
    return []


def leave_nothing(
    app_config: AppConfig,
    using: str,
    plan: Plan = (),
    apps: Apps | None = None,
    verbosity: int = 1,
    stdout: TextIO | None = None,
    **_: object,
) -> None:
    """After a migration that dropped our tables. It says what stays, and how to remove that.

    `manage.py flush`, which every TransactionTestCase does, sends the same signal without a plan.
    """
    if not _removes_all(app_config, plan):
        return
    ours = _is_ours(using)
    if ours and _is_installed():
        return  # `--fake`
    _forget_models(app_config.label, using, apps)
    if not ours:
        return  # Django records a migration also where a router keeps it from running
    left = [*_empty_redis(), *_revoke_rights(), *_kept_log()]
    if verbosity:
        (stdout or sys.stdout).writelines(f"  {line}\n" for line in left)


def _removes_all(app_config: AppConfig, plan: Plan) -> bool:
    first = (app_config.label, _FIRST)
    return any(backwards and (migration.app_label, migration.name) == first for migration, backwards in plan)


def _is_ours(using: str) -> bool:
    try:
        return using == conf().DATABASE and our_connection().vendor == "postgresql"
    except InvalidConfiguration:
        return False  # the checks report it


def _is_installed() -> bool:
    return bool(execute(_INSTALLED)[0][0])


def _seen() -> list[tuple[object, str, object]]:
    return [(node, name, at) for node, name, at in execute(_SEEN, {"ttl": conf().NODE_TTL_SECONDS})]


def _streaming_backup() -> list[str]:
    return ["`manage.py backup stream`"] if execute(_SLOT, {"slot": _backup_slot()}) == [(True,)] else []


def _backup_slot() -> str:
    from .backup.receiver import slot_name  # most processes never ask

    return slot_name()


def _forget_models(label: str, using: str, apps: Apps | None) -> None:
    """The content types, and with them the permissions; the admin's log of changes to our rows would name nothing."""
    if apps is None:
        return
    for owner, name, field in _NOTES:
        try:
            model = apps.get_model(owner, name)
        except LookupError:
            continue  # nothing of the kind in this database
        if router.allow_migrate_model(using, model):
            model.objects.using(using).filter(**{field: label}).delete()


def _empty_redis() -> Iterator[str]:
    given = conf()
    if not given.REDIS_URL:
        return
    try:
        with client(timeout=5) as server:
            keys = server.scan_iter(given.redis_key("*"), count=_KEYS_AT_ONCE)
            while some := [key for key, _ in zip(keys, range(_KEYS_AT_ONCE), strict=False)]:
                server.unlink(*some)
    except (redis.RedisError, ValueError) as error:
        log.warning("uninstall.redis_keys_left prefix=%s error=%r", given.redis_key(""), str(error))
        yield f"Redis can't be used ({error}). Delete its keys that begin with {given.redis_key('')} yourself."


def _revoke_rights() -> Iterator[str]:
    roles = revoke_all()
    if not roles.names:
        return
    names = ", ".join(roles.names)
    for statement in roles.still_to_revoke:
        yield f"Not revoked: run `{statement};` as the owner of these objects or a superuser."
    if roles.used_in:
        yield f"The roles {names} stay: the databases {', '.join(roles.used_in)} of this server use them."
    elif roles.still_to_revoke:
        yield f"The roles {names} stay on the server. When they have no rights, run `DROP ROLE {names};`."
    else:
        yield (
            f"The roles {names} stay on the server, without any right in this database. No other database uses them: "
            f"`DROP ROLE {names};` removes them."
        )


def _kept_log() -> Iterator[str]:
    slot = _backup_slot()
    if execute(_SLOT, {"slot": slot}):
        yield (
            f"The replication slot {slot} stays, and the server keeps its write-ahead log for it: run "
            f"`SELECT pg_drop_replication_slot('{slot}');`."
        )
