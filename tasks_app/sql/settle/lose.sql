-- lose: AWAY rows of which nothing was heard within their lease have failed: one failure, code LOST.
-- The lease is looked at again in the row that is locked: a report of progress may have renewed it since the statement began.
-- What somebody reports about right now is skipped; the next look finds it, if that changes nothing.
WITH silent AS MATERIALIZED (
    SELECT task FROM punctual_away WHERE until < (SELECT clock_timestamp()) ORDER BY until LIMIT %(limit)s
), mine AS MATERIALIZED (
    SELECT t.id, a.run, FALSE AS final, NULL::float8 AS after, 'LOST' AS code,
           'nothing was heard within its lease of whoever had this task' AS message, '["lease_expired"]'::jsonb AS tags,
           t.attempt, a.worker
    FROM silent s JOIN punctual_away a ON a.task = s.task
    JOIN punctual_task t ON t.id = a.task AND t.status = 'AWAY' AND t.ran_in = a.run
    WHERE a.until < (SELECT clock_timestamp())
    ORDER BY t.id
    FOR NO KEY UPDATE OF t, a SKIP LOCKED
),
--include failed_away
