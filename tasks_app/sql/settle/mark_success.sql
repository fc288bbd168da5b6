-- mark_success: RUNNING rows of this batch -> SUCCESS; a rolling one is due again.
-- Times come as microseconds since the batch's start, which costs far less than a thousand timestamps. What the handlers
-- returned comes as one JSON list, in which null is nothing; NULL if none of them returned anything. So do the attempts, and
-- NULL is the first for all.
-- All places in one array: a join with `mine` would scan for each, and ask the system for the table's size each time.
WITH
--include locked
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
--include next_roll
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
--include tell
--include figures
