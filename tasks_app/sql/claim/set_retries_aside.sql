-- set_retries_aside: retries in unpublished batches -> due again, and claimed by type from now on. Safeguards slow down the
-- retries of a type, but not first attempts.
-- A batch without remaining tasks is finished. Returns the number of remaining tasks of each batch. A locked row stays in
-- its batch: otherwise all claimed tasks would wait for it, and one retry too many does no harm.
WITH b AS MATERIALIZED (
    SELECT batch_no, ids FROM punctual_batch
    WHERE batch_no = ANY (%(batch_nos)s::uuid[]) AND started_at IS NULL AND finished_at IS NULL
    ORDER BY batch_no
    FOR UPDATE
), mine AS MATERIALIZED (
    SELECT t.id, b.batch_no
    FROM b JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    WHERE t.attempt > 0
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
), moved AS (
    UPDATE punctual_task t
    SET status = 'FAIL', batch_no = NULL, due_at = t.claimed_due, limited = TRUE, updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND t.status = 'RUNNING' AND t.batch_no = mine.batch_no AND t.attempt > 0
    RETURNING t.id
), rest AS MATERIALIZED (
    SELECT b.batch_no, ARRAY(SELECT one.id FROM unnest(b.ids) WITH ORDINALITY AS one(id, place)
                             WHERE one.id NOT IN (SELECT id FROM moved) ORDER BY one.place) AS ids
    FROM b
)
UPDATE punctual_batch p
SET ids = rest.ids, finished_at = CASE WHEN cardinality(rest.ids) = 0 THEN clock_timestamp() END
FROM rest
WHERE p.batch_no = rest.batch_no AND p.started_at IS NULL AND p.finished_at IS NULL
RETURNING p.batch_no::text, cardinality(p.ids)
