"""Refuses a database that an earlier checkout made, before one initial migration replaced all others."""

from typing import Any

from django.core.management.base import CommandError
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

FIRST, LAST = "0001_initial", "0099_data_model"
LAST_COMMIT = "df3e97f9"  # of those that have the migrations up to LAST


def refuse(using: str, **_: Any) -> None:
    """Before a migration. A database at the last of those migrations has the tables that this version needs."""
    applied = {name for app, name in MigrationRecorder(connections[using]).applied_migrations() if app == "tasks_app"}
    if applied - {FIRST} and LAST not in applied:
        raise CommandError(
            f"An earlier checkout of Punctual made this database; its last migration is {max(applied)}. One initial "
            "migration has replaced them, so this version cannot migrate it. To start again, rename the data folder "
            "(.punctual for `make up`) or use an empty database. To keep the data, check out commit "
            f"{LAST_COMMIT}, run `manage.py migrate` there, and return to this version."
        )
