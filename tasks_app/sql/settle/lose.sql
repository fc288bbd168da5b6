-- lose: AWAY rows without a report within their lease have failed: one failure, code LOST.
-- The lease is checked again in the locked row, since a progress report may have renewed it after the statement began.
-- A row with a report in progress is skipped. The next run finds it, unless the report changes it.
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
