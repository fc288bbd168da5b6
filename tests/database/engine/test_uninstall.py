"""What goes with the tables when the app is migrated back, who has to stop before, and where nothing may be touched."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.apps import apps
from django.apps.registry import Apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError
from django.db import connection
from django.db.migrations import Migration
from django.db.models.functions import Now
from django.db.models.signals import pre_migrate

from tasks_app.conf import conf
from tasks_app.models import JobDefinition, Node
from tasks_app.storage.leaving import RolesLeft, revoke_all
from tasks_app.uninstall import leave_nothing, refuse_while_running, still_running
from tests.support.browser import person

pytestmark = pytest.mark.django_db

LABEL = JobDefinition._meta.app_label
FIRST, SECOND = Migration("0001_initial", LABEL), Migration("0002_storage", LABEL)
BACK_TO_ZERO = [(SECOND, True), (FIRST, True)]
GONE = {"types": False, "rights": False, "log": False, "keys": False}


class KeepsNoContentTypes:
    def allow_migrate(self, db, app_label, **hints):
        return None if app_label == LABEL else False


@pytest.fixture(autouse=True)
def noted(redis):
    """Django's and Redis's notes about us, and about others."""
    kind = ContentType.objects.get_for_model(JobDefinition)
    LogEntry.objects.create(user=person("ann"), content_type=kind, object_repr="a job", action_flag=CHANGE)
    redis.mset({conf().redis_key("left"): 1, "punctuality": 2})


@pytest.fixture
def dropped():
    """The tables, for those who ask whether they are there."""
    connection.cursor().execute("ALTER TABLE punctual_node RENAME TO node; ALTER TABLE punctual_task RENAME TO task")


def leave(plan: list[tuple[Migration, bool]], state: Apps = apps) -> str:
    """What it prints after this migration."""
    printed = StringIO()
    leave_nothing(apps.get_app_config(LABEL), "default", plan, state, stdout=printed)
    return printed.getvalue()


def what_is_noted(redis) -> dict[str, bool]:
    return {
        "types": ContentType.objects.filter(app_label=LABEL).exists(),
        "rights": Permission.objects.filter(content_type__app_label=LABEL).exists(),
        "log": LogEntry.objects.exists(),
        "keys": bool(redis.exists(conf().redis_key("left"))),
    }


@pytest.mark.usefixtures("dropped")
def test_nothing_of_ours_is_left_after_the_first_migration_was_taken_back(redis):
    leave(BACK_TO_ZERO)

    assert what_is_noted(redis) == GONE
    assert ContentType.objects.filter(app_label="articles_app").exists()
    assert redis.get("punctuality") == b"2"


@pytest.mark.parametrize("plan", [[], [(FIRST, False), (SECOND, False)], [(SECOND, True)], BACK_TO_ZERO])
def test_everything_stays_as_long_as_the_tables_do(redis, plan):
    """They stay after any other migration, and after one that is only faked."""
    assert leave(plan) == ""

    assert all(what_is_noted(redis).values())


@pytest.mark.usefixtures("dropped")
def test_a_database_without_content_types_is_left_alone(redis, settings):
    leave(BACK_TO_ZERO, Apps())
    assert what_is_noted(redis)["types"]

    settings.DATABASE_ROUTERS = [KeepsNoContentTypes()]
    leave(BACK_TO_ZERO)
    assert what_is_noted(redis)["types"]


def test_the_keys_in_redis_stay_as_long_as_the_tables_in_another_database(redis, settings):
    settings.DATABASES["tasks"] = settings.DATABASES["default"]
    settings.PUNCTUAL = settings.PUNCTUAL | {"DATABASE": "tasks"}
    try:
        leave(BACK_TO_ZERO)
    finally:
        del settings.DATABASES["tasks"]

    assert what_is_noted(redis) == GONE | {"keys": True}


@pytest.mark.usefixtures("dropped")
def test_an_unreachable_redis_does_not_keep_the_rest_from_going(settings, caplog, redis):
    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": "redis://127.0.0.1:1/0"}

    printed = leave(BACK_TO_ZERO)

    assert "Delete its keys that begin with punctual: yourself." in printed
    assert "uninstall.redis_keys_left prefix=punctual: error=" in caplog.text
    assert what_is_noted(redis) == GONE | {"keys": True}


# Rights


@pytest.fixture
def shop():
    """A schema of the same database that our tables have left, with rights of every kind."""
    connection.cursor().execute("""
        CREATE SCHEMA shop;
        CREATE TABLE shop."Order" (id serial, secret int);
        CREATE FUNCTION shop.total() RETURNS int LANGUAGE sql RETURN 1;
        GRANT USAGE ON SCHEMA shop TO punctual_web;
        GRANT SELECT (secret) ON shop."Order" TO punctual_web;
        GRANT ALL ON shop."Order", shop."Order_id_seq" TO punctual_engine, punctual_web_all;
        GRANT EXECUTE ON FUNCTION shop.total() TO punctual_engine;
        ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO punctual_engine;
        ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON SEQUENCES TO punctual_engine, punctual_web;
    """)


def rights() -> dict[str, int]:
    """How many objects of a schema one of our roles has a right on."""
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT coalesce(n.nspname, o.identity), count(*) FROM pg_shdepend d
            JOIN pg_roles r ON r.oid = d.refobjid AND r.rolname LIKE 'punctual\\_%'
            JOIN pg_database b ON b.oid = d.dbid AND datname = current_database()
            CROSS JOIN LATERAL pg_identify_object(classid, objid, 0) o
            LEFT JOIN pg_default_acl a ON a.oid = objid AND classid = 'pg_default_acl'::regclass
            LEFT JOIN pg_namespace n ON n.nspname = o.schema OR n.oid = defaclnamespace
            WHERE d.deptype = 'a' GROUP BY 1""")
        return dict(cursor.fetchall())


@pytest.mark.usefixtures("shop")
def test_roles_lose_their_rights_where_our_tables_are_gone_and_keep_them_where_they_are():
    before = rights()
    assert before["shop"] > 8

    roles = revoke_all()

    assert rights() == {name: count for name, count in before.items() if name != "shop"}
    assert roles == RolesLeft(["punctual_engine", "punctual_web", "punctual_web_all"], [], [])


@pytest.mark.usefixtures("shop", "dropped")
def test_rights_that_this_login_can_not_take_back_are_printed():
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE ROLE clerk; ALTER FUNCTION shop.total() OWNER TO clerk; GRANT USAGE ON SCHEMA shop TO clerk"
        )
        cursor.execute("SET LOCAL ROLE clerk")
        roles = revoke_all()
        cursor.execute("RESET ROLE")

        assert any("REVOKE ALL ON TABLE" in one and 'shop."Order"' in one for one in roles.still_to_revoke)
        assert not any("total" in one for one in roles.still_to_revoke)
        for statement in roles.still_to_revoke:
            cursor.execute(statement)
    assert rights() == {}


# Processes


def node(kind: str = Node.BEAT, **fields: object) -> Node:
    return Node.objects.create(node_id=uuid4(), kind=kind, name="web-1:42", **fields)


def reports_again(one: Node) -> Callable[[], None]:
    def report() -> None:
        Node.objects.filter(pk=one.pk).update(seen_at=Now() + timedelta(microseconds=1))

    return report


def test_a_running_process_is_named_before_anything_is_changed():
    config, again = apps.get_app_config(LABEL), reports_again(node())

    refuse_while_running(config, "default", [(FIRST, False)], pause=again)
    with pytest.raises(CommandError, match=r"Punctual still runs: beat web-1:42\. Stop all beats"):
        pre_migrate.send(config, app_config=config, using="default", plan=BACK_TO_ZERO, verbosity=0, pause=again)


def test_a_process_that_starts_meanwhile_counts():
    node()
    assert still_running(None, pause=lambda: node(Node.WORKER)) == ["worker web-1:42"]


def test_a_process_that_was_killed_is_waited_for_until_it_counts_as_dead():
    killed, printed = node(), StringIO()

    def time_passes() -> None:
        Node.objects.filter(pk=killed.pk).update(seen_at=Now() - timedelta(seconds=conf().NODE_TTL_SECONDS))

    assert still_running(printed, pause=time_passes) == []
    assert "Waiting up to 8 s" in printed.getvalue()
