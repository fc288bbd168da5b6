-- reap: batches whose lease ran out are finished, and their RUNNING rows are due again, in one statement.
-- LIMIT and SKIP LOCKED on batch rows only: skipping a locked task would leave it RUNNING for ever.
-- Never started: due again, no retry used. Lost in company: the same, but alone from now on, so that a
-- poisonous task can't take its neighbours along. Lost while alone: one failure, by the row's own budget; the next try
-- after the delay that its job has, or its handler; else the usual one. What rolls is told with its type: that may have a
-- timer to wait for.
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
    SET batch_no = NULL, updated_at = clock_timestamp(),
        solo = t.solo OR b.in_company OR b.alone,
        status = CASE WHEN b.alone AND
--include out_of_tries
                           AND t.repeat_after IS NULL THEN 'DEAD'
                      WHEN b.alone OR t.attempt > 0 THEN 'FAIL'
                      ELSE 'INIT' END,
        due_at = CASE WHEN NOT b.alone THEN t.claimed_due
                      WHEN NOT
--include out_of_tries
                      THEN clock_timestamp() + make_interval(secs =>
--include next_try
                      )
                      ELSE clock_timestamp() + t.repeat_after END,
        attempt = CASE WHEN NOT b.alone THEN t.attempt
                       WHEN
--include out_of_tries
                       AND t.repeat_after IS NOT NULL THEN 0
                       ELSE t.attempt + 1 END,
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
    -- When one that rolls is due again is left out: its type may have a timer to wait for.
    SELECT CASE m.status WHEN 'DEAD' THEN 'task.dead' ELSE 'task.failed' END AS event, m.id, m.tenant, m.task_type,
           m.biz_key AS key, m.job, m.fire_time, m.idem_key, m.worker, m.lost_batch AS batch_no,
           CASE m.attempt WHEN 0 THEN m.max_retry + 1 ELSE m.attempt END AS attempt, NULL::text AS state,
           jsonb_strip_nulls(jsonb_build_object(
               'code', m.error_code, 'message', m.error_msg, 'next', CASE WHEN m.attempt > 0 THEN m.due_at END,
               'fingerprint', m.fingerprint, 'tags', CASE WHEN m.status = 'DEAD' THEN '["lease_expired"]'::jsonb END)) AS data,
           TRUE AS with_data
    FROM moved m WHERE m.alone
),
--include tell
SELECT b.batch_no::text, b.started_at IS NOT NULL AS started, b.worker,
       (SELECT count(*) FROM moved m WHERE m.lost_batch = b.batch_no) AS tasks,
       rolled.task_type, rolled.id, rolled.due_at
FROM b LEFT JOIN moved rolled ON rolled.lost_batch = b.batch_no AND rolled.alone AND rolled.attempt = 0
