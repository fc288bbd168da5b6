-- reap: batches with an expired lease are finished, and their RUNNING rows are due again. Plan: docs/kernel.md#reap
-- Never started, or started with others: due again with no retry used; after a start each gets a batch of its own (solo).
-- Started alone: one failure (LOST), DEAD if it was the last attempt.
-- SKIP LOCKED on batches only: a skipped task would stay RUNNING forever.
WITH expired AS (
    SELECT batch_no FROM punctual_batch
    WHERE finished_at IS NULL AND lease_until < (SELECT clock_timestamp())
    ORDER BY lease_until
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
), b AS (
    UPDATE punctual_batch
    SET finished_at = clock_timestamp(), reaped = TRUE
    FROM expired
    WHERE punctual_batch.batch_no = expired.batch_no AND punctual_batch.finished_at IS NULL
    RETURNING punctual_batch.batch_no, ids, started_at, worker,
              started_at IS NOT NULL AND cardinality(ids) > 1 AS in_company,
              started_at IS NOT NULL AND cardinality(ids) = 1 AS alone
), mine AS MATERIALIZED (
    SELECT t.id AS task_id, b.*
    FROM b JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
), moved AS (
    UPDATE punctual_task t
    SET (status, due_at, attempt) = (
            SELECT CASE WHEN b.alone AND last AND t.repeat_after IS NULL THEN 'DEAD'
                        WHEN b.alone OR t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END,
                   CASE WHEN NOT b.alone THEN t.claimed_due
                        WHEN last THEN clock_timestamp() + t.repeat_after
                        ELSE clock_timestamp() + make_interval(secs => coalesce(
                            -- The back-off of its job, of its type, or the usual one; without jitter.
                            (SELECT d.backoff[least(t.attempt + 1, cardinality(d.backoff))] FROM punctual_job d WHERE d.id = t.job),
                            (SELECT (of_type.steps ->> least(t.attempt, jsonb_array_length(of_type.steps) - 1))::float8
                             FROM (SELECT coalesce(%(delays)s::jsonb -> t.task_type, %(usual)s::jsonb) AS steps) AS of_type))) END,
                   CASE WHEN NOT b.alone THEN t.attempt WHEN last AND t.repeat_after IS NOT NULL THEN 0 ELSE t.attempt + 1 END
            FROM (SELECT CASE WHEN t.retry_for IS NULL THEN t.attempt >= t.max_retry
                              ELSE statement_timestamp() > t.execute_time + t.retry_for END AS last) AS try),
        batch_no = NULL, solo = t.solo OR b.in_company OR b.alone, updated_at = clock_timestamp(),
        retry_count = t.retry_count + b.alone::int,
        error_code = CASE WHEN b.alone THEN 'LOST' ELSE t.error_code END,
        error_msg = CASE WHEN b.alone THEN 'the worker died or lost its lease while running this task'
                         ELSE t.error_msg END,
        ran_in = CASE WHEN b.alone THEN b.batch_no ELSE t.ran_in END,
        finish_time = CASE WHEN b.alone THEN clock_timestamp() ELSE t.finish_time END
    FROM mine AS b
    WHERE t.id = b.task_id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.status, t.attempt, t.max_retry,
              t.error_code, t.error_msg, t.due_at, b.batch_no AS lost_batch, b.worker, b.started_at, b.alone,
              CASE WHEN t.status = 'DEAD'
                   THEN punctual_fingerprint(t.task_type, t.error_code, t.error_msg, '') END AS fingerprint
), tried AS (
    INSERT INTO punctual_attempt (task_id, attempt, batch_no, worker, started_at, finished_at, error_code, error_msg)
    SELECT id, CASE attempt WHEN 0 THEN max_retry + 1 ELSE attempt END, lost_batch, worker, started_at, clock_timestamp(), error_code, error_msg
    FROM moved WHERE alone
), buried AS (
    INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, fingerprint, job, tags)
    SELECT id, tenant, task_type, error_code, error_msg, fingerprint, job, ARRAY['lease_expired']
    FROM moved WHERE status = 'DEAD'
), news AS NOT MATERIALIZED (
    -- A rolling task has no `next` here: its type may have a timer to wait for.
    SELECT CASE m.status WHEN 'DEAD' THEN 'task.dead' ELSE 'task.failed' END AS event, m.id, m.tenant, m.task_type,
           m.biz_key AS key, m.job, m.fire_time, m.idem_key, m.worker, m.lost_batch AS batch_no,
           CASE m.attempt WHEN 0 THEN m.max_retry + 1 ELSE m.attempt END AS attempt, NULL::text AS state,
           jsonb_strip_nulls(jsonb_build_object(
               'code', m.error_code, 'message', m.error_msg, 'next', CASE WHEN m.attempt > 0 THEN m.due_at END,
               'fingerprint', m.fingerprint, 'tags', CASE WHEN m.status = 'DEAD' THEN '["lease_expired"]'::jsonb END)) AS data,
           TRUE AS with_data
    FROM moved m WHERE m.alone
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
SELECT b.batch_no::text, b.started_at IS NOT NULL AS started, b.worker,
       (SELECT count(*) FROM moved m WHERE m.lost_batch = b.batch_no) AS tasks,
       rolled.task_type, rolled.id, rolled.due_at
FROM b LEFT JOIN moved rolled ON rolled.lost_batch = b.batch_no AND rolled.alone AND rolled.attempt = 0
