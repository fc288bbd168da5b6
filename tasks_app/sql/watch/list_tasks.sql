-- list_tasks: the newest tasks of a tenant below an id. Walks a bounded stretch of ids, so that a filter that matches
-- little costs no more than one that matches much; `floor` says where the next look goes on, empty at the end.
WITH stretch AS MATERIALIZED (
    SELECT id, tenant, task_type, status FROM punctual_task
    WHERE id < %(before)s ORDER BY id DESC LIMIT %(stretch)s
), found AS (
    SELECT id FROM stretch
    WHERE tenant = %(tenant)s AND (%(task_type)s::text IS NULL OR task_type = %(task_type)s)
      AND (%(status)s::text IS NULL OR status = %(status)s)
      AND (%(types)s::text[] IS NULL OR task_type = ANY (%(types)s::text[]))
    ORDER BY id DESC LIMIT %(size)s
)
SELECT (SELECT array_agg(id) FROM found),
       CASE WHEN (SELECT count(*) FROM found) = %(size)s THEN (SELECT min(id) FROM found)
            WHEN (SELECT count(*) FROM stretch) = %(stretch)s THEN (SELECT min(id) FROM stretch) END
