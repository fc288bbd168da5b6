"""A database of an earlier checkout is refused before it is migrated, with a way out that works."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


def made_by_an_earlier_checkout(*migrations: str) -> None:
    recorder = MigrationRecorder(connection)
    recorder.migration_qs.filter(app="punctual").delete()
    ContentType.objects.filter(app_label="punctual").update(app_label="tasks_app")
    for name in migrations:
        recorder.record_applied("tasks_app", name)


def test_one_in_the_middle_of_the_earlier_migrations_is_refused_with_what_to_do():
    made_by_an_earlier_checkout("0001_initial", "0002_storage", "0093_stalls")

    with pytest.raises(CommandError, match=r"the last migration 0093_stalls\. .*rename the data folder \(.punctual"):
        call_command("migrate", verbosity=0)
    with pytest.raises(CommandError, match=r"check out commit df3e97f9, run `manage.py migrate` there"):
        call_command("migrate", verbosity=0)


@pytest.mark.parametrize("last", ["0001_initial", "0099_data_model"])
def test_one_with_all_tables_is_taken_after_the_sql_of_the_message(last):
    rights = Permission.objects.filter(content_type__app_label="punctual").count()
    made_by_an_earlier_checkout("0001_initial", last)
    with pytest.raises(CommandError) as refused:
        call_command("migrate", verbosity=0)
    assert "check out" not in str(refused.value)

    with connection.cursor() as cursor:
        cursor.execute(re.search(r"run this SQL in it: (.*)", str(refused.value))[1])
    call_command("migrate", verbosity=0)

    assert Permission.objects.filter(content_type__app_label="punctual").count() == rights > 0
    assert not ContentType.objects.filter(app_label="tasks_app").exists()
