"""What leaving a database takes beside dropping tables: partitions in steps, and the rights of our roles."""

import logging
from typing import NamedTuple

from django.apps.registry import Apps
from django.db import DatabaseError
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from tasks_app.sql import execute

from .isolation import ROLES, briefly

log = logging.getLogger(__name__)

LOCK_TIMEOUT = "SET LOCAL lock_timeout = '10s'"  # whoever needs our tables waits behind us for no longer
DROPPED_AT_ONCE = 50

_GIVEN = {"roles": list(ROLES)}
_PARTITIONS = """
SELECT p.relid::regclass::text FROM pg_class t CROSS JOIN LATERAL pg_partition_tree(t.oid) p
WHERE t.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('punctual_task'))
  AND t.relkind = 'p' AND NOT t.relispartition AND starts_with(t.relname, 'punctual_') AND p.isleaf AND p.level > 0
ORDER BY 1
"""
# Each right of a role is noted as a dependency, whatever gave it. A schema that still has our tables keeps its rights:
# another installation may share the database.
_HELD = """
WITH held AS (
    SELECT DISTINCT d.classid, d.objid, r.rolname::text AS role
    FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid
    WHERE d.refclassid = 'pg_authid'::regclass AND d.deptype = 'a' AND r.rolname = ANY (%(roles)s)
      AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
), objects AS (
    SELECT 'REVOKE ALL ON ' || CASE relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END AS verb,
           oid::regclass::text AS name, role, relowner AS owner, relnamespace AS schema
    FROM held JOIN pg_class ON classid = 'pg_class'::regclass AND oid = objid
    UNION ALL
    SELECT 'REVOKE ALL ON ROUTINE ', oid::regprocedure::text, role, proowner, pronamespace
    FROM held JOIN pg_proc ON classid = 'pg_proc'::regclass AND oid = objid
    UNION ALL
    SELECT 'REVOKE ALL ON SCHEMA ', quote_ident(nspname), role, nspowner, oid
    FROM held JOIN pg_namespace ON classid = 'pg_namespace'::regclass AND oid = objid
    UNION ALL
    SELECT 'ALTER DEFAULT PRIVILEGES FOR ROLE ' || defaclrole::regrole
           || coalesce(' IN SCHEMA ' || nullif(defaclnamespace, 0)::regnamespace, '') || ' REVOKE ALL ON ',
           CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'ROUTINES'
                              WHEN 'T' THEN 'TYPES' ELSE 'SCHEMAS' END,
           role, defaclrole, defaclnamespace
    FROM held JOIN pg_default_acl ON classid = 'pg_default_acl'::regclass AND oid = objid
), grouped AS (
    SELECT verb, name, string_agg(role, ', ' ORDER BY role) AS roles, pg_has_role(current_user, owner, 'USAGE') AS may
    FROM objects
    WHERE NOT EXISTS (SELECT FROM pg_class t WHERE t.relname = 'punctual_task' AND t.relkind IN ('r', 'p')
                      AND (schema = 0 OR t.relnamespace = schema))
    GROUP BY verb, name, owner
)
SELECT verb || string_agg(name, ', ' ORDER BY name) || ' FROM ' || roles, may
FROM grouped GROUP BY verb, roles, may ORDER BY 1
"""
_USERS = """
SELECT DISTINCT datname::text FROM pg_shdepend d
JOIN pg_roles r ON r.oid = d.refobjid JOIN pg_database b ON b.oid = d.dbid
WHERE d.refclassid = 'pg_authid'::regclass AND r.rolname = ANY (%(roles)s) AND datname <> current_database()
ORDER BY 1
"""


class RolesLeft(NamedTuple):
    """Roles belong to the whole server, so they stay."""

    names: list[str]
    still_to_revoke: list[str]  # statements that this login may not run
    used_in: list[str]  # other databases of the server


def drop_partitions(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Before the migration drops all tables in one transaction: each table and index in it takes a lock, and a year of
    partitions would take more than a server has."""
    apart = schema_editor.connection.copy()  # in transactions of its own
    try:
        with apart.cursor() as cursor:
            cursor.execute(_PARTITIONS)
            names = [name for (name,) in cursor.fetchall()]
            for first in range(0, len(names), DROPPED_AT_ONCE):
                some = ", ".join(names[first : first + DROPPED_AT_ONCE])
                cursor.execute(f"BEGIN; {LOCK_TIMEOUT}; DROP TABLE {some}; COMMIT")
    finally:
        apart.close()
    schema_editor.execute(LOCK_TIMEOUT)


def revoke_all() -> RolesLeft:
    """Take every right from our roles in the schemas of this database that our tables have left."""
    if mine := [statement for statement, may in _held() if may]:
        try:
            briefly(mine)
        except DatabaseError as error:
            log.warning("leaving.rights_left error=%r", str(error).strip())
    names = [name for (name,) in execute("SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%(roles)s)", _GIVEN)]
    used_in = [name for (name,) in execute(_USERS, _GIVEN)]
    return RolesLeft(sorted(names), [statement for statement, _ in _held()], used_in)


def _held() -> list[tuple[str, bool]]:
    return [(statement, may) for statement, may in execute(_HELD, _GIVEN)]
