-- mark_fail: RUNNING rows of this batch -> FAIL with a next attempt, or DEAD. Plan: docs/kernel.md#settle
-- `final` is mark_fail_unrecoverable; otherwise mark_fail_retryable, and the row's budget decides whether to try again.
-- A rolling task never dies: after its last attempt it is due again an interval later. Each failure leaves an attempt row.
-- An encrypted error leaves neither its message nor a fingerprint of it: its cause is its code and frame.
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
    SELECT id, (g ->> 'begun')::bigint * interval '1 microsecond' AS begun,
           (g ->> 'ended')::bigint * interval '1 microsecond' AS ended,
           (g ->> 'delay_ms')::bigint * interval '1 millisecond' AS delay,
           (g ->> 'final')::bool AS final, (g ->> 'attempt')::int AS attempt, g ->> 'code' AS code, g ->> 'message' AS message,
           g ->> 'held_by' AS held_by, g
    FROM (SELECT id, %(given)s::jsonb -> (width_bucket(id, %(ids)s::bigint[]) - 1) AS g FROM mine) AS one
), moved AS (
    UPDATE punctual_task t
    SET (status, due_at, attempt) = (
            SELECT CASE WHEN last AND t.repeat_after IS NULL THEN 'DEAD' ELSE 'FAIL' END,
                   CASE WHEN NOT last THEN clock_timestamp() + g.delay
                        ELSE coalesce((%(moments)s::timestamptz[])[1 + width_bucket(roll - interval '1 microsecond',
                                                                                    %(moments)s::timestamptz[])], roll) END,
                   CASE WHEN last AND t.repeat_after IS NOT NULL THEN 0 ELSE t.attempt + 1 END
            FROM (SELECT b.started_at + g.ended + t.repeat_after AS roll,
                         g.final OR CASE WHEN t.retry_for IS NULL THEN t.attempt >= t.max_retry
                                         ELSE statement_timestamp() > t.execute_time + t.retry_for END AS last) AS try),
        retry_count = t.retry_count + 1,
        batch_no = NULL, ran_in = t.batch_no, solo = FALSE, error_code = g.code, error_msg = g.message,
        allowed_at = greatest(t.allowed_at, b.allowed_at),
        start_time = b.started_at + g.begun, finish_time = b.started_at + g.ended, updated_at = clock_timestamp()
    FROM b, given g
    WHERE t.id = g.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.status, t.due_at, g.attempt, t.error_code,
              t.error_msg, t.start_time, t.finish_time,
              CASE WHEN t.attempt > 0 AND t.status = 'FAIL' THEN g.held_by END AS held_by, g.g,
              CASE WHEN t.status = 'DEAD'
                   THEN punctual_fingerprint(t.task_type, t.error_code,
                                             CASE WHEN starts_with(t.error_msg, '$punctual:1:') THEN '' ELSE t.error_msg END,
                                             g.g ->> 'frame') END AS fingerprint
), tried AS (
    INSERT INTO punctual_attempt (task_id, attempt, batch_no, worker, started_at, finished_at, error_code, error_msg, held_by)
    SELECT m.id, m.attempt, b.batch_no, b.worker, m.start_time, m.finish_time, m.error_code, m.error_msg, m.held_by
    FROM moved m, b
), buried AS (
    INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, fingerprint, job, frame, traceback, tags)
    SELECT id, tenant, task_type, error_code, error_msg, fingerprint, job, g ->> 'frame', g ->> 'trace',
           ARRAY(SELECT jsonb_array_elements_text(g -> 'tags'))
    FROM moved WHERE status = 'DEAD'
), news AS NOT MATERIALIZED (
    SELECT CASE m.status WHEN 'DEAD' THEN 'task.dead' ELSE 'task.failed' END AS event, m.id, m.tenant, m.task_type,
           m.biz_key AS key, m.job, m.fire_time, m.idem_key, (SELECT worker FROM b) AS worker,
           (SELECT batch_no FROM b) AS batch_no, m.attempt, NULL::text AS state,
           jsonb_strip_nulls(jsonb_build_object(
               'code', m.error_code, 'next', m.due_at,
               'message', CASE WHEN starts_with(m.error_msg, '$punctual:1:') THEN 'encrypted' ELSE left(m.error_msg, 500) END,
               'fingerprint', m.fingerprint, 'tags', CASE WHEN m.status = 'DEAD' THEN m.g -> 'tags' END)) AS data,
           TRUE AS with_data
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
