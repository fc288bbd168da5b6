"""Moving task types to the internal tenant: a step of each app's own migration, as it was written for it.

Plain statements by ranges of ids, each committed by itself: no table is locked, and a row for milliseconds. What was moved
stays moved if it is interrupted, and running it again goes on. Ids, times and states stay as they are.
"""

from collections.abc import Iterator, Sequence

from django.db import migrations
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper
from django.db.migrations.state import StateApps

from tasks_app.conf import conf
from tasks_app.core.sharding import shard_of
from tasks_app.core.tenants import DEFAULT_TENANT, INTERNAL_TENANT

STEP = 20_000  # ids

# A unit that has a current row there already, or a key that is taken, stays where it is: there can be one only.
_TASKS = """
UPDATE punctual_task t SET tenant = %(target)s, shard = g.shard,
    cancelled_from = CASE WHEN t.status = 'CANCELLED' AND t.cancelled_by LIKE 'token %%' AND t.cancelled_from IS NULL
                          THEN %(source)s ELSE t.cancelled_from END
FROM unnest(%(ids)s::bigint[], %(shards)s::smallint[]) AS g(id, shard)
WHERE t.id = g.id AND t.tenant = %(source)s
  AND NOT EXISTS (SELECT FROM punctual_task o WHERE t.current AND o.current AND o.biz_key = t.biz_key
                  AND o.task_type = t.task_type AND o.tenant = %(target)s)
  AND NOT EXISTS (SELECT FROM punctual_task o WHERE o.tenant = %(target)s AND o.idem_key = t.idem_key)
"""
_FOUND = """
SELECT id, task_type, biz_key FROM punctual_task
WHERE id >= %(low)s AND id < %(high)s AND tenant = %(source)s
  AND (task_type = ANY (%(types)s::text[]) OR job = ANY (%(jobs)s::bigint[]))
ORDER BY id
"""
_JOBS = """
UPDATE punctual_job j SET tenant = %(target)s WHERE j.tenant = %(source)s AND j.task_type = ANY (%(types)s::text[])
  AND NOT EXISTS (SELECT FROM punctual_job o WHERE o.tenant = %(target)s AND o.name = j.name)
"""
_MOVED_JOBS = "SELECT id FROM punctual_job WHERE tenant = %(target)s AND task_type = ANY (%(types)s::text[])"
_REVISIONS = """
UPDATE punctual_unit_revision r SET tenant = %(target)s
WHERE r.id >= %(low)s AND r.id < %(high)s AND r.tenant = %(source)s AND r.task_type = ANY (%(types)s::text[])
  AND NOT EXISTS (SELECT FROM punctual_unit_revision o WHERE o.biz_key = r.biz_key AND o.task_type = r.task_type
                  AND o.tenant = %(target)s)
"""
_DEAD = """
UPDATE punctual_dead_letter SET tenant = %(target)s
WHERE id >= %(low)s AND id < %(high)s AND tenant = %(source)s AND task_type = ANY (%(types)s::text[])
"""
_EVENTS = """
UPDATE punctual_outbox e SET tenant = %(target)s
WHERE e.id >= %(low)s AND e.id < %(high)s AND e.tenant = %(source)s AND CASE WHEN e.task_id IS NULL
    THEN e.event = ANY (%(events)s::text[])
    ELSE EXISTS (SELECT FROM punctual_task t WHERE t.id = e.task_id AND t.tenant = %(target)s
                 AND (t.task_type = ANY (%(types)s::text[]) OR t.job = ANY (%(jobs)s::bigint[]))) END
"""


def move_to_internal(*types: str, events: Sequence[str] = ()) -> migrations.RunPython:
    """All rows of these types, and an app's own events of these names, from the default tenant to the internal one."""

    def forward(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
        _move(schema_editor.connection, DEFAULT_TENANT, INTERNAL_TENANT, types, events)

    def backward(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
        _move(schema_editor.connection, INTERNAL_TENANT, DEFAULT_TENANT, types, events)

    return migrations.RunPython(forward, backward)


def _move(connection: BaseDatabaseWrapper, source: str, target: str, types: Sequence[str], events: Sequence[str]) -> None:
    if connection.alias != conf().DATABASE:
        return  # an app's own migration, in a database that has none of our tables
    given = {"source": source, "target": target, "types": list(types), "events": list(events)}
    with connection.cursor() as cursor:
        cursor.execute(_JOBS, given)
        cursor.execute(_MOVED_JOBS, given)
        given["jobs"] = [id_ for (id_,) in cursor.fetchall()]
        for span in _spans(cursor, "punctual_task"):
            cursor.execute(_FOUND, given | span)
            found = cursor.fetchall()
            if found:
                shards = [shard_of(target, task_type, key, conf().SHARDS) for _, task_type, key in found]
                cursor.execute(_TASKS, given | {"ids": [id_ for id_, *_ in found], "shards": shards})
        for table, statement in (("punctual_unit_revision", _REVISIONS), ("punctual_dead_letter", _DEAD), ("punctual_outbox", _EVENTS)):
            for span in _spans(cursor, table):
                cursor.execute(statement, given | span)


def _spans(cursor: CursorWrapper, table: str) -> Iterator[dict[str, int]]:
    """The ids of a table in steps, as far as there are any now; what is written meanwhile is written as it should be."""
    cursor.execute(f"SELECT min(id), max(id) FROM {table}")
    lowest, highest = cursor.fetchone()
    if lowest is not None:
        for low in range(lowest, highest + 1, STEP):
            yield {"low": low, "high": low + STEP}
