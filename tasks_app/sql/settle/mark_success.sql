-- mark_success: RUNNING rows of this batch -> SUCCESS; rolling ones are due again. Plan: docs/kernel.md#settle
-- Times are microseconds since the batch's start; results are one JSON list (null: nothing); attempts NULL: the first for all.
-- width_bucket() finds a row's values by a binary search in the sorted ids.
-- Its parts are included in other settle statements; mark_fail, mark_not_yet, start and reap repeat them, and a test compares.
WITH
-- part mine
b AS MATERIALIZED (
    -- The batch first: unfinished, so it was not reaped; locked, so it cannot be until this commits.
    SELECT batch_no, started_at, allowed_at, worker FROM punctual_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), mine AS MATERIALIZED (
    -- Then the tasks in order of id, if they are still RUNNING under this batch. The lock keeps each row at its `spot`.
    SELECT t.ctid AS spot, t.id
    FROM punctual_task t
    WHERE EXISTS (SELECT FROM b)
      AND t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = %(batch_no)s
    ORDER BY t.id
    FOR NO KEY UPDATE
)
-- end
, moved AS (
    UPDATE punctual_task t
    SET status = 'SUCCESS', batch_no = NULL, ran_in = t.batch_no, solo = FALSE, attempt = 0, error_code = '', error_msg = '',
        start_time = (SELECT started_at FROM b)
                     + (%(begun)s::bigint[])[width_bucket(t.id, %(ids)s::bigint[])] * interval '1 microsecond',
        finish_time = (SELECT started_at FROM b)
                      + (%(ended)s::bigint[])[width_bucket(t.id, %(ids)s::bigint[])] * interval '1 microsecond',
        allowed_at = greatest(t.allowed_at, (SELECT allowed_at FROM b)),
        result = CASE WHEN %(results)s::jsonb IS NOT NULL
                      THEN nullif(%(results)s::jsonb -> (width_bucket(t.id, %(ids)s::bigint[]) - 1), 'null'::jsonb) END,
        due_at = CASE WHEN t.repeat_after IS NOT NULL THEN (
            SELECT
                   coalesce((%(moments)s::timestamptz[])[
                       1 + width_bucket(roll.moment - interval '1 microsecond', %(moments)s::timestamptz[])], roll.moment)
            FROM (SELECT b.started_at + (%(ended)s::bigint[])[width_bucket(t.id, %(ids)s::bigint[])] * interval '1 microsecond'
                         + t.repeat_after AS moment
                  FROM b) AS roll) END,
        updated_at = clock_timestamp()
    WHERE t.ctid = ANY (ARRAY(SELECT spot FROM mine)) AND t.status = 'RUNNING' AND t.batch_no = %(batch_no)s
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), news AS NOT MATERIALIZED (
    SELECT 'task.succeeded' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           (SELECT worker FROM b) AS worker, (SELECT batch_no FROM b) AS batch_no,
           (%(attempts)s::int[])[width_bucket(m.id, %(ids)s::bigint[])] AS attempt, NULL::text AS state,
           NULL::jsonb AS data, FALSE AS with_data
    FROM moved m
),
rare AS (
    SELECT bool_or(job IS NOT NULL) AS job, bool_or(idem_key IS NOT NULL) AS idem_key FROM news
), emitted AS (
    INSERT INTO punctual_outbox (tenant, event, task_type, worker, batch_no, count, task_ids, keys, jobs, fire_times,
                                 idem_keys, attempts, states, payloads)
    SELECT n.tenant, n.event, n.task_type, n.worker, n.batch_no, count(*), array_agg(n.id), array_agg(n.key),
           array_agg(n.job) FILTER (WHERE (SELECT job FROM rare)),
           array_agg(n.fire_time) FILTER (WHERE (SELECT job FROM rare)),
           array_agg(n.idem_key) FILTER (WHERE (SELECT idem_key FROM rare)),
           array_agg(n.attempt) FILTER (WHERE n.attempt IS NOT NULL),
           array_agg(n.state) FILTER (WHERE n.state IS NOT NULL),
           jsonb_agg(n.data) FILTER (WHERE n.with_data)
    FROM news n
    WHERE n.event = ANY (%(kept)s::text[])
    GROUP BY n.tenant, n.event, n.task_type, n.worker, n.batch_no
)
-- A row that changed after this statement began is locked, but not updated. Then the batch stays open, and the caller settles
-- the rest with a statement that sees it.
-- part figures
UPDATE punctual_batch
SET ok = ok + CASE WHEN %(counts_as)s = 'ok' THEN tally.tasks ELSE 0 END,
    failed = failed + CASE WHEN %(counts_as)s = 'failed' THEN tally.tasks ELSE 0 END,
    finished_at = CASE WHEN %(finish)s AND tally.tasks = tally.mine THEN clock_timestamp() END,
    run_us = %(run_us)s, lateness = %(lateness)s
FROM b, (SELECT (SELECT count(*) FROM moved) AS tasks, (SELECT count(*) FROM mine) AS mine) AS tally
WHERE punctual_batch.batch_no = b.batch_no
RETURNING tally.tasks, tally.mine
-- end
