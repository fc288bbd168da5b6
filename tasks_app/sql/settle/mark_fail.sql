-- mark_fail: RUNNING rows of this batch -> FAIL with a next try, or DEAD with a dead letter.
-- `final` is mark_fail_unrecoverable, else mark_fail_retryable: then the row's own budget decides.
-- An encrypted message says nothing to whoever hears of it, nor what its cause is: that goes by the code and the frame.
-- A rolling task never dies: after its last failure it rolls, as after a success. An attempt row is kept for each failure.
WITH
--include locked
, given AS MATERIALIZED (
    SELECT id, (g ->> 'begun')::bigint * interval '1 microsecond' AS begun,
           (g ->> 'ended')::bigint * interval '1 microsecond' AS ended,
           (g ->> 'delay_ms')::bigint * interval '1 millisecond' AS delay,
           (g ->> 'final')::bool AS final, (g ->> 'attempt')::int AS attempt, g ->> 'code' AS code, g ->> 'message' AS message,
           g ->> 'held_by' AS held_by, g
    FROM (SELECT id, %(given)s::jsonb -> (width_bucket(id, %(ids)s::bigint[]) - 1) AS g FROM mine) AS one
), moved AS (
    UPDATE punctual_task t
    SET status = CASE WHEN (g.final OR
--include out_of_tries
                      ) AND t.repeat_after IS NULL THEN 'DEAD' ELSE 'FAIL' END,
        due_at = CASE WHEN NOT (g.final OR
--include out_of_tries
                      ) THEN clock_timestamp() + g.delay
                      ELSE (
            SELECT
--include next_roll
            FROM (SELECT b.started_at + g.ended + t.repeat_after AS moment) AS roll) END,
        attempt = CASE WHEN (g.final OR
--include out_of_tries
                       ) AND t.repeat_after IS NOT NULL THEN 0 ELSE t.attempt + 1 END,
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
--include tell
--include figures
