-- mark_not_yet: RUNNING rows of this batch -> INIT, scheduled again for the time that the handler named; no retry used.
WITH b AS MATERIALIZED (
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
), given AS MATERIALIZED (
    SELECT id, (%(given)s::jsonb ->> (width_bucket(id, %(ids)s::bigint[]) - 1))::timestamptz AS until FROM mine
), moved AS (
    UPDATE punctual_task t
    SET status = 'INIT', batch_no = NULL, solo = FALSE, execute_time = g.until, due_at = g.until,
        allowed_at = CASE WHEN g.until < clock_timestamp() THEN clock_timestamp() END, updated_at = clock_timestamp()
    FROM b, given g
    WHERE t.id = g.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.attempt, t.due_at
), news AS NOT MATERIALIZED (
    SELECT 'task.snoozed' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           (SELECT worker FROM b) AS worker, (SELECT batch_no FROM b) AS batch_no, m.attempt + 1 AS attempt, NULL::text AS state,
           jsonb_build_object('until', m.due_at) AS data, TRUE AS with_data
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
UPDATE punctual_batch
SET ok = ok + CASE WHEN %(counts_as)s = 'ok' THEN tally.tasks ELSE 0 END,
    failed = failed + CASE WHEN %(counts_as)s = 'failed' THEN tally.tasks ELSE 0 END,
    finished_at = CASE WHEN %(finish)s AND tally.tasks = tally.mine THEN clock_timestamp() END,
    run_us = %(run_us)s, lateness = %(lateness)s
FROM b, (SELECT (SELECT count(*) FROM moved) AS tasks, (SELECT count(*) FROM mine) AS mine) AS tally
WHERE punctual_batch.batch_no = b.batch_no
RETURNING tally.tasks, tally.mine
