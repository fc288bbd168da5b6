-- move_batches: batches that finished a while ago go to the past, with the tasks whose last run they were; one step.
-- A task that was written to later goes with a later batch, or as a stray; one that somebody holds, or that rolls, stays.
-- Its row tells the past what only the batch knows: where it ran. Tells how late the first of them goes, in seconds.
WITH done AS MATERIALIZED (
    SELECT b.batch_no, b.ids, b.worker, b.finished_at FROM punctual_batch b
    WHERE b.finished_at < (SELECT clock_timestamp() - make_interval(secs => %(keep)s))
    ORDER BY b.finished_at
    LIMIT %(batches)s
    FOR UPDATE SKIP LOCKED
), chosen AS MATERIALIZED (
    SELECT batch_no, ids, worker, finished_at
    FROM (SELECT *, sum(cardinality(ids)) OVER (ORDER BY finished_at, batch_no) - cardinality(ids) AS before FROM done) AS one
    WHERE before < %(tasks)s
), mine AS MATERIALIZED (
    SELECT t.spot
    FROM chosen c
    CROSS JOIN LATERAL (
        SELECT t.ctid AS spot FROM punctual_task t
        WHERE t.id = ANY (c.ids) AND t.updated_at <= c.finished_at AND
--include over
        FOR UPDATE SKIP LOCKED
    ) AS t
), gone AS (
    DELETE FROM punctual_task t WHERE t.ctid = ANY (ARRAY(SELECT spot FROM mine))
    RETURNING t.*
), kept AS (
    INSERT INTO punctual_past (
--include columns
    , retention, worker)
    SELECT
--include columns
    , kept_in.retention,
    -- Another batch may have run it last and have gone before this one; then only that batch knows where.
    (SELECT c.worker FROM chosen c WHERE c.batch_no = gone.ran_in)
    FROM gone
    CROSS JOIN LATERAL (
--include class_of
    ) AS kept_in(retention)
    -- Neighbours in an index cost it a fraction of what scattered keys do.
    ORDER BY biz_key
), closed AS (
    DELETE FROM punctual_batch b USING chosen c WHERE b.batch_no = c.batch_no
    RETURNING b.*
), kept_batches AS (
    INSERT INTO punctual_past_batch SELECT * FROM closed
)
SELECT (SELECT count(*) FROM chosen), (SELECT count(*) FROM gone),
       (SELECT extract(epoch FROM clock_timestamp() - min(finished_at))::float8 - %(keep)s FROM chosen)
