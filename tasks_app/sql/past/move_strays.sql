-- move_strays: what is over and was left behind by the batches goes to the past: what was cancelled while it waited, and
-- what somebody held just then. One step over a stretch of ids, since no index knows the status; it says where it ended.
WITH stretch AS MATERIALIZED (
    SELECT id FROM punctual_task WHERE id > %(after)s ORDER BY id LIMIT %(step)s
), mine AS MATERIALIZED (
    SELECT t.ctid AS spot FROM punctual_task t
    WHERE t.id > %(after)s AND t.id <= (SELECT max(id) FROM stretch)
      AND t.updated_at < (SELECT clock_timestamp() - make_interval(secs => %(keep)s)) AND
--include over
    ORDER BY t.id
    FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM punctual_task t USING mine WHERE t.ctid = mine.spot
    RETURNING t.*
), kept AS (
    INSERT INTO punctual_past (
--include columns
    , retention, worker)
    SELECT
--include columns
    , kept_in.retention,
           CASE WHEN ran_in IS NOT NULL THEN (SELECT b.worker FROM punctual_any_batch b WHERE b.batch_no = ran_in LIMIT 1) END
    FROM gone
    CROSS JOIN LATERAL (
--include class_of
    ) AS kept_in(retention)
    ORDER BY biz_key
)
SELECT (SELECT max(id) FROM stretch), (SELECT count(*) FROM gone)
