"""A request may do with each table what is on the list, and nothing else: asked of PostgreSQL, table by table."""

import pytest
from django.core.management import call_command
from django.db import ProgrammingError, connection, transaction
from django.test import Client

from tasks_app import scope
from tasks_app.core.isolation import ENGINE, WEB, WEB_ALL
from tasks_app.engine.beat.partitions import keep_partitions
from tasks_app.storage.isolation import missing_steps, tables
from tasks_app.storage.rights import ENGINE_ONLY, ONLY_READ, OPERATORS, RESTRICTED, TENANTS, allowed
from tests.support.members import member

pytestmark = pytest.mark.django_db

VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
LISTED = TENANTS.keys() | OPERATORS.keys() | ONLY_READ | ENGINE_ONLY
_RELATIONS = """
SELECT relname::text, relispartition FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') ORDER BY 1
"""
# By any way there is: its own rights, those of PUBLIC, and those of roles that it is a member of.
_MAY = """
SELECT verb FROM unnest(%(verbs)s::text[]) AS verb WHERE has_table_privilege(%(role)s, %(table)s, verb)
UNION ALL
SELECT verb || ' (' || attname || ')' FROM unnest(%(verbs)s::text[]) AS verb CROSS JOIN pg_attribute
WHERE verb IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') AND attrelid = %(table)s::regclass AND attnum > 0
  AND NOT attisdropped AND NOT has_table_privilege(%(role)s, %(table)s, verb)
  AND has_column_privilege(%(role)s, %(table)s, attname, verb)
"""


def asked(statement: str, **params: object) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def relations(*, partitions: bool = False) -> list[str]:
    return [name for name, is_part in asked(_RELATIONS) if is_part == partitions]


def may(role: str, table: str) -> frozenset[str]:
    return frozenset(verb for (verb,) in asked(_MAY, role=role, table=table, verbs=list(VERBS)))


def test_every_table_of_ours_is_on_the_list_and_nothing_else_is():
    ours = {name for name in relations() if name.startswith("punctual_")}

    assert len(ours) > 70
    assert ours - LISTED == set(), "a new table needs a line in tasks_app/storage/rights.py"
    assert {name for name in LISTED if name.startswith("punctual_")} - ours == set(), "there is no such table"
    assert not ONLY_READ & (TENANTS.keys() | OPERATORS.keys() | ENGINE_ONLY)


@pytest.mark.parametrize("role", RESTRICTED)
def test_a_request_may_do_what_is_on_the_list_and_nothing_else(role):
    assert {name: may(role, name) for name in relations()} == {name: allowed(role, name) for name in relations()}


@pytest.mark.parametrize("role", RESTRICTED)
def test_partitions_are_used_through_their_table_alone(role):
    keep_partitions()
    parts = relations(partitions=True)

    assert len(parts) > 10
    assert {name: may(role, name) for name in parts if may(role, name)} == {}


def test_a_table_that_is_not_on_the_list_is_not_even_read():
    connection.cursor().execute("CREATE TABLE punctual_new (id int); CREATE TABLE shop_order (id int)")

    assert {role: may(role, "punctual_new") for role in RESTRICTED} == dict.fromkeys(RESTRICTED, frozenset())
    call_command("database", "roles")

    assert {role: may(role, "punctual_new") for role in RESTRICTED} == dict.fromkeys(RESTRICTED, frozenset())
    assert may(ENGINE, "punctual_new") == {"SELECT", "INSERT", "UPDATE", "DELETE"}
    assert (may(WEB, "shop_order"), may(WEB_ALL, "shop_order")) == (
        {"SELECT"},
        {"SELECT", "INSERT", "UPDATE", "DELETE"},
    )


def test_a_table_of_the_project_is_written_for_a_tenant_only_if_the_settings_name_it(settings):
    connection.cursor().execute("CREATE TABLE shop_order (id int)")
    settings.PUNCTUAL = settings.PUNCTUAL | {"TENANT_WRITES": ["shop_order"]}
    call_command("database", "roles")
    assert may(WEB, "shop_order") == {"SELECT", "INSERT", "UPDATE", "DELETE"}

    settings.PUNCTUAL = settings.PUNCTUAL | {"TENANT_WRITES": []}
    call_command("database", "roles")
    assert may(WEB, "shop_order") == {"SELECT"}


TOO_MUCH = [
    "DELETE FROM punctual_audit_trail",
    "DELETE FROM punctual_audit_entry",
    "UPDATE punctual_audit_trail SET anchored_place = 9000000",
    "INSERT INTO punctual_audit_trail (tenant, place, hash, floor_hash) VALUES ('other', 1, '', '')",
    "INSERT INTO punctual_audit_link (tenant, place, entry_id, at, chained_at, digest, hash)"
    " VALUES ('other', 1, 1, now(), now(), '', '')",
    "INSERT INTO punctual_audit_entry (operation, actor, verb, subject, outcome, reason, tenant, created_at)"
    " VALUES (gen_random_uuid(), 'eve', 'cancel', 'task 1', 'done', 'none', 'other', now() - interval '1 year')",
    "DELETE FROM punctual_audit_unchained",
    "DELETE FROM punctual_audit_missing",
    "UPDATE punctual_audit_anchor SET body = ''",
    "DELETE FROM punctual_tenant_key",
    "UPDATE punctual_tenant_key SET destroyed_at = now()",
    "UPDATE punctual_tenant_key SET sealed = ''",
    "UPDATE punctual_job_cursor SET next_fire = now() + interval '1 year'",
    "UPDATE punctual_batch SET lease_until = now()",
    "DELETE FROM punctual_outbox",
    "DELETE FROM punctual_tenant",
    "UPDATE django_migrations SET name = ''",
    "UPDATE punctual_sieve SET ready = TRUE",
    "DELETE FROM punctual_sieve_late",
    "TRUNCATE punctual_task",
]
TOO_MUCH_FOR_A_TENANT = [
    "UPDATE punctual_tenant SET weight = 100",
    "INSERT INTO punctual_tenant (name, weight) VALUES ('other', 100)",
    "UPDATE auth_user SET is_superuser = TRUE",
    "INSERT INTO auth_user_groups (user_id, group_id) VALUES (1, 1)",
    "UPDATE auth_user SET password = ''",
    "SELECT session_key FROM django_session",
    "DELETE FROM django_session",
    "DELETE FROM django_admin_log",
    "UPDATE article SET title = ''",
    "DELETE FROM punctual_lane_pause",
    "DELETE FROM punctual_installation",
]


@pytest.mark.parametrize(
    ("tenant", "statement"),
    [(None, one) for one in TOO_MUCH] + [("other", one) for one in TOO_MUCH + TOO_MUCH_FOR_A_TENANT],
)
def test_what_no_request_should_do_is_refused(tenant, statement):
    with scope.request():
        scope.settle(tenant)
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            connection.cursor().execute(statement)


def test_what_is_too_much_is_taken_away_and_what_is_missing_given_back():
    connection.cursor().execute("GRANT INSERT, DELETE ON punctual_sieve_late, punctual_audit_entry TO punctual_web")
    connection.cursor().execute("GRANT UPDATE (title) ON punctual_tenant TO punctual_web")
    connection.cursor().execute("REVOKE DELETE ON punctual_job FROM punctual_web_all")
    assert len(missing_steps()) == 1
    call_command("database", "roles")

    for role in RESTRICTED:
        for table in ("punctual_sieve_late", "punctual_audit_entry", "punctual_tenant", "punctual_job"):
            assert may(role, table) == allowed(role, table)
    assert missing_steps() == []


def test_rights_that_tables_got_by_default_are_taken_away():
    """As an older version gave them."""
    connection.cursor().execute(
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO punctual_web;"
        "CREATE TABLE punctual_new (id int)"
    )
    assert may(WEB, "punctual_new")
    call_command("database", "roles")
    connection.cursor().execute("CREATE TABLE punctual_newer (id int)")

    assert may(WEB, "punctual_new") == may(WEB, "punctual_newer") == frozenset()
    assert missing_steps() == []


def test_the_engine_keeps_all_rights():
    short = [one.name for one in tables() if not may(ENGINE, one.name) >= {"SELECT", "INSERT", "UPDATE", "DELETE"}]
    assert short == []


def test_a_member_of_a_tenant_logs_in_changes_the_password_and_logs_out():
    """With the rights of an account, not with those of a tenant's request."""
    user = member("operator")
    user.set_password("old-and-long-enough")
    user.save()
    browser = Client()
    before = {"username": user.get_username(), "password": "old-and-long-enough"}
    assert browser.post("/admin/login/", before).status_code == 302
    assert browser.get("/admin/punctual/scheduletask/").status_code == 200

    again = "quite-an0ther-one"
    new = {"old_password": "old-and-long-enough", "new_password1": again, "new_password2": again}
    assert browser.post("/admin/password_change/", new).status_code == 302
    user.refresh_from_db()
    assert user.check_password("quite-an0ther-one")
    assert browser.get("/admin/punctual/scheduletask/").status_code == 200
    assert browser.post("/admin/logout/").status_code in (200, 302)
    assert asked("SELECT count(*) FROM django_session") == [(0,)]
