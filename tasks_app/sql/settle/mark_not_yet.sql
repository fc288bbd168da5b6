-- mark_not_yet: RUNNING rows of this batch -> INIT, scheduled again for the moment the handler named; no retry used.
WITH
--include locked
, given AS MATERIALIZED (
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
--include tell
--include figures
