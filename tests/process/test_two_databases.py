"""A project with Punctual's tables in a database of their own, and with connection settings that are not ours."""

import json
import os

import pytest
from django.conf import settings
from django.db import connection

from tests.support import nursery

NAME = "punctual_host"
LIMITS = {
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "1min",
    "plan_cache_mode": "force_generic_plan",
    "application_name": "punctual",
}
NO_LIMITS = {
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "plan_cache_mode": "auto",
    "application_name": "",
}
THEIRS = {"idle_in_transaction_session_timeout": "90s", "application_name": "shop"}  # what the project has set


@pytest.fixture(scope="module")
def seen(django_db_setup, django_db_blocker) -> dict:
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        for name in (NAME, f"{NAME}_tasks"):
            cursor.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            cursor.execute(f"CREATE DATABASE {name}")
        server = {key: connection.settings_dict[key] for key in ("ENGINE", "HOST", "PORT", "USER", "PASSWORD")}
        connection.close()
    ended = nursery.run(
        "tests.support.hostapp",
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "tests.support.hostapp.settings",
            "HOST_SERVER": json.dumps(server),
            "HOST_NAME": NAME,
            "REDIS_URL": settings.PUNCTUAL["REDIS_URL"],
        },
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_all_of_it_is_in_the_database_that_was_named_and_nothing_else_is(seen):
    assert [name for name in seen["tables"]["default"] if name.startswith("punctual_")] == []
    assert "punctual_task" in seen["tables"]["tasks"]
    assert [name for name in seen["tables"]["tasks"] if name.startswith("auth_")] == []
    assert seen["permissions"] > 0
    assert seen["checks"] == ["punctual.W010"]


def test_beats_and_workers_have_limits_that_the_projects_own_processes_have_not(seen):
    assert seen["beat"]["tasks"] == seen["worker"]["tasks"] == LIMITS | THEIRS
    assert seen["beat"]["default"] == seen["worker"]["default"] == NO_LIMITS
    assert seen["web"] == seen["command"] == NO_LIMITS | THEIRS


def test_a_request_that_fails_leaves_neither_a_row_nor_a_task(seen):
    assert seen["failed request"] == 500
    assert seen["left of it"] == [None, 0]


def test_a_transaction_of_one_database_is_none_of_the_other(seen):
    assert seen["their rollback"] == [0, "INIT"]
    assert seen["our rollback"] is None
    assert seen["effect"] == 2


def test_a_lost_connection_to_the_projects_database_is_replaced(seen):
    assert seen["lost connections"] > 0


def test_an_apps_rows_are_compared_with_tasks_across_databases(seen):
    assert seen["compared"] == [2, ["unplanned"], ["unwanted"]]
    assert seen["compared with nothing"] == []
    assert seen["differing"] == ["unplanned"]
    assert seen["planned"] == [2, ["wanted"]]


def test_the_admin_and_the_api_read_and_write_there(seen):
    assert set(seen["pages"].values()) == {200}
    assert seen["api"] == [201, 409, 200, 200]
