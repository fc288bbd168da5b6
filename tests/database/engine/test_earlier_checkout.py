"""A database of an earlier checkout is refused before it is migrated, unless it has the tables of this version."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


def test_a_database_of_an_earlier_checkout_is_refused_with_what_to_do():
    MigrationRecorder(connection).record_applied("tasks_app", "0002_storage")
    MigrationRecorder(connection).record_applied("tasks_app", "0093_stalls")

    with pytest.raises(CommandError, match=r"its last migration is 0093_stalls.*rename the data folder \(.punctual"):
        call_command("migrate", verbosity=0)


def test_one_at_the_last_of_the_earlier_migrations_is_taken_as_it_is():
    MigrationRecorder(connection).record_applied("tasks_app", "0098_recovery_trouble")
    MigrationRecorder(connection).record_applied("tasks_app", "0099_data_model")

    call_command("migrate", verbosity=0)
