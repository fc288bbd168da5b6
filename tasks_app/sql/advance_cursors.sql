-- advance_cursors: these firings are planned. A schedule that no active job has is dropped; the next job brings it back.
WITH gone AS (
    DELETE FROM job_cursor WHERE id = ANY (%(empty)s::bigint[])
)
UPDATE job_cursor c
SET next_fire = u.next_fire, after_job = u.after_job
FROM unnest(%(cursors)s::bigint[], %(nexts)s::timestamptz[], %(afters)s::bigint[]) AS u(id, next_fire, after_job)
WHERE c.id = u.id
RETURNING c.id
