"""Somebody else's project adds Punctual, uses all of its tables, and migrates back: its database is as it was."""

import os
import re
import subprocess
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tasks_app.embedded.binaries import postgres_install
from tasks_app.models import JobDefinition
from tests.support import nursery
from tests.support.filled import fill_tables

APP = JobDefinition._meta.app_label
NAME = f"leaving_{os.getpid()}"
# pg_dump makes up a new word for each dump; a number that was used once is not used again.
NOT_COMPARED = re.compile(r"^(\\(un)?restrict |SELECT pg_catalog\.setval\().*\n", re.MULTILINE)
LATER = """
SELECT punctual_make_class('x');
SELECT punctual_make_partition(family::regclass, family || '_later', now() + first, now() + first + interval '2 days')
FROM (VALUES ('punctual_past_x', interval '-1 day'), ('punctual_past_batch', '-1 day'),
             ('punctual_audit_entry', '9 days')) AS one (family, first);
SELECT punctual_begin_sieve('punctual_past_x_later', 8);
"""
LOGGED = """
INSERT INTO django_admin_log (action_time, object_repr, action_flag, change_message, user_id, content_type_id)
SELECT now(), 'theirs', 1, '', u.id, c.id FROM auth_user u, django_content_type c WHERE c.model = %(model)s
"""
ALLOWED = """
INSERT INTO auth_group_permissions (group_id, permission_id)
SELECT g.id, p.id FROM auth_group g, auth_permission p JOIN django_content_type c ON c.id = p.content_type_id
WHERE c.model = %(model)s
"""

WATCH = """
CREATE TABLE shop_dropped (transaction xid8, name text);
CREATE FUNCTION shop_note() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO shop_dropped SELECT pg_current_xact_id(), object_identity FROM pg_event_trigger_dropped_objects()
    WHERE object_type = 'table';
END $$;
CREATE EVENT TRIGGER shop_note ON sql_drop EXECUTE FUNCTION shop_note();
"""


class Project:
    def __init__(self, session: psycopg.Connection) -> None:
        self.session = session
        self._address = make_conninfo(os.environ["DATABASE_URL"], dbname=NAME)

    def migrate(self, *words: str, parts: str = "core") -> str:
        url = re.sub(r"(//[^/]*)/\w+", rf"\1/{NAME}", os.environ["DATABASE_URL"])
        env = {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "tests.support.host.settings", "HOST_PUNCTUAL": parts}
        done = nursery.run("django", "migrate", *words, "--no-color", env=os.environ | env, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def dump(self) -> str:
        program = postgres_install() / "bin" / "pg_dump"
        done = subprocess.run([program, "--inserts", self._address], check=True, capture_output=True, text=True)
        return NOT_COMPARED.sub("", done.stdout)


@pytest.fixture
def project() -> Iterator[Project]:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME} WITH (FORCE)")
        server.execute(f"CREATE DATABASE {NAME} TEMPLATE template0")
        with psycopg.connect(os.environ["DATABASE_URL"], dbname=NAME, autocommit=True) as session:
            yield Project(session)
        server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def test_a_project_that_leaves_has_the_database_that_it_had(project, redis):
    session = project.session
    project.migrate(parts="")
    session.execute(
        "INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name, last_name, email,"
        " date_joined) VALUES ('ann', '', TRUE, TRUE, TRUE, '', '', '', now())"
    )
    session.execute("INSERT INTO auth_group (name) VALUES ('staff')")
    for statement in (LOGGED, ALLOWED):
        session.execute(statement, {"model": "counter"})
    theirs = [
        name
        for (name,) in session.execute(
            "SELECT relname FROM pg_class WHERE relname ~ '^(auth|django)_' AND relkind = 'r'"
        )
    ]
    session.execute(WATCH)
    before = project.dump()

    project.migrate(APP)
    session.execute(LATER)
    assert len(fill_tables(session)) > 80
    session.execute("UPDATE punctual_node SET seen_at = now() - interval '1 hour'")
    for statement in (LOGGED, ALLOWED):
        session.execute(statement, {"model": "jobdefinition"})
    redis.mset({"punctual:left": 1, "punctuality": 2})
    assert len(project.dump()) > 5 * len(before)

    with psycopg.connect(session.info.dsn, dbname=NAME) as other, other.transaction():
        # Whatever keeps others from using these tables would wait for this.
        other.execute(f"LOCK TABLE {', '.join(theirs)} IN SHARE UPDATE EXCLUSIVE MODE")
        printed = project.migrate(APP, "zero")

    dropped = session.execute("DELETE FROM shop_dropped RETURNING transaction, name").fetchall()
    at_last = [name for transaction, name in dropped if (transaction,) == max((one,) for one, _ in dropped)]
    assert "public.punctual_task" in at_last and len(at_last) > 80
    assert "public.punctual_past_x_later" in {name for _, name in dropped} - {*at_last}
    assert project.dump() == before
    assert redis.keys() == [b"punctuality"]
    assert "The roles punctual_engine, punctual_web, punctual_web_all stay" in printed
