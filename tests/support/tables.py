"""Owns the test database: makes it, and leaves nothing behind in it after a test that committed."""

from django.conf import settings
from django.db import connection
from django.db.backends.base.creation import TEST_DATABASE_PREFIX

# What migrations made of our models: the same for every test, and slow to make anew.
KEPT = ["django_migrations", "django_content_type", "auth_permission"]
# The tables that have pages: those that something was written to since they were last truncated. Asking each of them
# for a row would take ten times as long, since PostgreSQL looks at all indexes of a table that it plans to read.
_WRITTEN = """
SELECT oid::regclass::text, size FROM (
    SELECT oid, relname, pg_relation_size(oid) AS size FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL (%s)
    OFFSET 0
) AS one WHERE size > 0
ORDER BY relname
"""
# Up to so many bytes its rows are deleted, a hundred times quicker than to give a table and each of its indexes
# a new file. What deleting leaves behind is bounded by this, too.
FEW_BYTES = 8 * 8192


def make_database() -> None:
    """A new one, in place of one that is left of another run."""
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)


def take_database() -> None:
    """The one that is there and has all tables."""
    connection.close()
    name = TEST_DATABASE_PREFIX + connection.settings_dict["NAME"]
    settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = name


def empty_tables() -> None:
    """Empty the tables that are not. Django's own way empties all of them after each test, and makes every content type
    and permission anew: 84 statements instead of two."""
    with connection.cursor() as cursor:
        cursor.execute(_WRITTEN, [KEPT])
        written = cursor.fetchall()
        many = [name for name, size in written if size > FEW_BYTES]
        statements = [f"DELETE FROM {name}" for name, size in written if size <= FEW_BYTES]
        statements += [f"TRUNCATE {', '.join(many)} CASCADE"] if many else []
        if statements:
            # Without triggers: foreign keys would ask for an order, and records that can only grow would refuse.
            cursor.execute(f"BEGIN; SET LOCAL session_replication_role = replica; {'; '.join(statements)}; COMMIT")
