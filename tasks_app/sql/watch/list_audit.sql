-- list_audit: what was done to the tasks and jobs of a tenant, and if wanted to what all share, the latest first.
-- Walks a bounded stretch of them, so that a filter that matches little costs no more than one that matches much.
-- `floor` says where the next look goes on, empty at the end.
WITH stretch AS MATERIALIZED (
    SELECT id, verb, actor, task_type FROM (
        (SELECT id, verb, actor, task_type FROM punctual_audit_entry
         WHERE tenant = %(tenant)s AND id < %(before)s ORDER BY id DESC LIMIT %(stretch)s)
        UNION ALL
        (SELECT id, verb, actor, task_type FROM punctual_audit_entry
         WHERE %(shared)s::bool AND tenant IS NULL AND id < %(before)s ORDER BY id DESC LIMIT %(stretch)s)
    ) AS entry
    ORDER BY id DESC LIMIT %(stretch)s
), found AS (
    SELECT id FROM stretch
    WHERE (%(types)s::text[] IS NULL OR task_type = ANY (%(types)s::text[]))
      AND (%(verb)s::text IS NULL OR verb = %(verb)s)
      AND (%(actor)s::text IS NULL OR actor = %(actor)s)
      AND verb <> ALL (%(hidden)s::text[])
    ORDER BY id DESC LIMIT %(size)s
)
SELECT (SELECT array_agg(id) FROM found),
       CASE WHEN (SELECT count(*) FROM found) = %(size)s THEN (SELECT min(id) FROM found)
            WHEN (SELECT count(*) FROM stretch) = %(stretch)s THEN (SELECT min(id) FROM stretch) END
