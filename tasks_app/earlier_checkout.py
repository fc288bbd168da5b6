"""Refuses a database that an earlier checkout made: with the app label `tasks_app`, and before that with 99 migrations
in place of one."""

from typing import Any

from django.core.management.base import CommandError
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

LABEL = "tasks_app"
FIRST, LAST = "0001_initial", "0099_data_model"
LAST_COMMIT = "df3e97f9"  # of those that have the migrations up to LAST
NEW_LABEL = (
    "UPDATE django_migrations SET app = 'punctual' WHERE app = 'tasks_app'; "
    "UPDATE django_content_type SET app_label = 'punctual' WHERE app_label = 'tasks_app';"
)


def refuse(using: str, **_: Any) -> None:
    """Before a migration."""
    applied = {name for app, name in MigrationRecorder(connections[using]).applied_migrations() if app == LABEL}
    if not applied:
        return
    steps = f"run this SQL in it: {NEW_LABEL}"
    if applied != {FIRST} and LAST not in applied:
        steps = f"check out commit {LAST_COMMIT}, run `manage.py migrate` there, return to this version, and {steps}"
    raise CommandError(
        f"An earlier checkout of Punctual made this database, with the app label {LABEL} and the last migration "
        f"{max(applied)}. To start again, rename the data folder (.punctual for `make up`) or use an empty database. "
        f"To keep the data, {steps}"
    )
