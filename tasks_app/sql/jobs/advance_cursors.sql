-- advance_cursors: these firings are planned. A schedule that no active job has is dropped; the next job brings it back.
-- A job whose end is before the next firing leaves its schedule: it would be looked at for ever, and never fire.
WITH gone AS (
    DELETE FROM punctual_job_cursor WHERE id = ANY (%(empty)s::bigint[])
), ended AS (
    UPDATE punctual_job d SET cursor = NULL
    FROM unnest(%(cursors)s::bigint[], %(nexts)s::timestamptz[], %(afters)s::bigint[]) AS u(id, next_fire, after_job)
    WHERE d.cursor = u.id AND d.status = 'ACTIVE' AND d.end_at < u.next_fire AND u.after_job = 0
)
UPDATE punctual_job_cursor c
SET next_fire = u.next_fire, after_job = u.after_job, down_until = u.down_until
FROM unnest(%(cursors)s::bigint[], %(nexts)s::timestamptz[], %(afters)s::bigint[], %(downs)s::timestamptz[])
     AS u(id, next_fire, after_job, down_until)
WHERE c.id = u.id
RETURNING c.id
