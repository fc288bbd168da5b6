-- The rows of `mine`, which are AWAY and locked -> FAIL with a next attempt, or DEAD. A rolling row rolls after its last
-- failure, and is returned with its type, which may have a timer. Finished rows are returned with whether others depend on
-- them.
moved AS (
    UPDATE punctual_task t
    SET (status, due_at, attempt) = (
            SELECT CASE WHEN last AND t.repeat_after IS NULL THEN 'DEAD' ELSE 'FAIL' END,
                   CASE WHEN last THEN clock_timestamp() + t.repeat_after
                        ELSE clock_timestamp() + make_interval(secs => coalesce(m.after,
                            (SELECT d.backoff[least(t.attempt + 1, cardinality(d.backoff))] FROM punctual_job d WHERE d.id = t.job),
                            (SELECT (of_type.steps ->> least(t.attempt, jsonb_array_length(of_type.steps) - 1))::float8
                             FROM (SELECT coalesce(%(delays)s::jsonb -> t.task_type, %(usual)s::jsonb) AS steps) AS of_type))) END,
                   CASE WHEN last AND t.repeat_after IS NOT NULL THEN 0 ELSE t.attempt + 1 END
            FROM (SELECT m.final OR CASE WHEN t.retry_for IS NULL THEN t.attempt >= t.max_retry
                                         ELSE statement_timestamp() > t.execute_time + t.retry_for END AS last) AS try),
        retry_count = t.retry_count + 1, error_code = m.code, error_msg = m.message,
        finish_time = clock_timestamp(), updated_at = clock_timestamp()
    FROM mine m
    WHERE t.id = m.id AND t.status = 'AWAY' AND t.ran_in = m.run
    RETURNING t.id, t.tenant, t.lane, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.status, t.due_at, t.error_code,
              t.error_msg, t.start_time, t.finish_time, m.run, m.worker, m.tags, m.attempt + 1 AS attempt, t.attempt = 0 AS rolls,
              CASE WHEN t.status = 'DEAD'
                   THEN punctual_fingerprint(t.task_type, t.error_code,
                                             CASE WHEN starts_with(t.error_msg, '$punctual:1:') THEN '' ELSE t.error_msg END, '')
              END AS fingerprint
), home AS (
    DELETE FROM punctual_away a USING moved m WHERE a.task = m.id
), arrived AS (
    DELETE FROM punctual_progress p USING moved m WHERE p.task = m.id
), tried AS (
    INSERT INTO punctual_attempt (task_id, attempt, batch_no, worker, started_at, finished_at, error_code, error_msg)
    SELECT id, attempt, run, worker, start_time, finish_time, error_code, error_msg FROM moved
), buried AS (
    INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, fingerprint, job, tags)
    SELECT id, tenant, task_type, error_code, error_msg, fingerprint, job, ARRAY(SELECT jsonb_array_elements_text(tags))
    FROM moved WHERE status = 'DEAD'
), counted AS (
    INSERT INTO punctual_away_outcome (at, lane, task_type, ok, failed)
    SELECT clock_timestamp(), lane, task_type, 0, count(*) FROM moved GROUP BY lane, task_type
), noted AS (
    INSERT INTO punctual_scope_outcome (tenant, target, backfill, ok, failed)
    SELECT tenant, task_type, lane = 'backfill', 0, count(*) FROM moved WHERE task_type <> 'HTTP_CALLBACK'
    GROUP BY tenant, task_type, lane = 'backfill'
), news AS NOT MATERIALIZED (
    SELECT CASE m.status WHEN 'DEAD' THEN 'task.dead' ELSE 'task.failed' END AS event, m.id, m.tenant, m.task_type,
           m.biz_key AS key, m.job, m.fire_time, m.idem_key, m.worker, m.run AS batch_no, m.attempt, NULL::text AS state,
           jsonb_strip_nulls(jsonb_build_object(
               'code', m.error_code,
               'message', CASE WHEN starts_with(m.error_msg, '$punctual:1:') THEN 'encrypted' ELSE left(m.error_msg, 500) END,
               'next', CASE WHEN NOT m.rolls THEN m.due_at END,
               'fingerprint', m.fingerprint, 'tags', CASE WHEN m.status = 'DEAD' THEN m.tags END)) AS data, TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id, status, task_type, due_at, rolls,
       status = 'DEAD' AND job IS NOT NULL AND EXISTS (SELECT FROM punctual_wait w WHERE w.parent = moved.id)
FROM moved
