"""What goes with the tables when the app is migrated back, and where nothing may be touched."""

import pytest
from django.apps import apps
from django.apps.registry import Apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db.migrations import Migration

from tasks_app.conf import conf
from tasks_app.models import JobDefinition
from tasks_app.uninstall import leave_nothing
from tests.support.browser import person

pytestmark = pytest.mark.django_db

FIRST, SECOND = Migration("0001_initial", "punctual"), Migration("0002_storage", "punctual")
BACK_TO_ZERO = [(SECOND, True), (FIRST, True)]


class KeepsNoContentTypes:
    def allow_migrate(self, db, app_label, **hints):
        return None if app_label == "punctual" else False


@pytest.fixture(autouse=True)
def noted(redis):
    """Django's and Redis's notes about us, and about others."""
    kind = ContentType.objects.get_for_model(JobDefinition)
    LogEntry.objects.create(user=person("ann"), content_type=kind, object_repr="a job", action_flag=CHANGE)
    redis.mset({conf().redis_key("left"): 1, "punctuality": 2})


def what_is_noted(redis) -> dict[str, bool]:
    return {
        "types": ContentType.objects.filter(app_label="punctual").exists(),
        "rights": Permission.objects.filter(content_type__app_label="punctual").exists(),
        "log": LogEntry.objects.exists(),
        "keys": bool(redis.exists(conf().redis_key("left"))),
    }


def test_nothing_of_ours_is_left_after_the_first_migration_was_taken_back(redis):
    leave_nothing("default", BACK_TO_ZERO, apps)

    assert what_is_noted(redis) == {"types": False, "rights": False, "log": False, "keys": False}
    assert ContentType.objects.filter(app_label="articles_app").exists()
    assert redis.get("punctuality") == b"2"


@pytest.mark.parametrize("plan", [[], [(FIRST, False), (SECOND, False)], [(SECOND, True)]])
def test_everything_stays_after_any_other_migration(redis, plan):
    leave_nothing("default", plan, apps)

    assert all(what_is_noted(redis).values())


def test_a_database_without_content_types_is_left_alone(redis, settings):
    leave_nothing("default", BACK_TO_ZERO, Apps())
    assert what_is_noted(redis)["types"]

    settings.DATABASE_ROUTERS = [KeepsNoContentTypes()]
    leave_nothing("default", BACK_TO_ZERO, apps)
    assert what_is_noted(redis)["types"]


def test_the_keys_in_redis_stay_as_long_as_the_tables_in_another_database(redis, settings):
    settings.DATABASES["tasks"] = settings.DATABASES["default"]
    settings.PUNCTUAL = settings.PUNCTUAL | {"DATABASE": "tasks"}
    try:
        leave_nothing("default", BACK_TO_ZERO, apps)
    finally:
        del settings.DATABASES["tasks"]

    assert what_is_noted(redis) == {"types": False, "rights": False, "log": False, "keys": True}


def test_an_unreachable_redis_keeps_nobody_from_uninstalling(settings, caplog):
    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": "redis://127.0.0.1:1/0"}

    leave_nothing("default", BACK_TO_ZERO, apps)

    assert "uninstall.redis_keys_left prefix=punctual: error=" in caplog.text
