-- mark_not_yet: RUNNING rows of this batch -> INIT, scheduled again for the moment the handler named; no retry used.
WITH
--include locked
, given AS MATERIALIZED (
    SELECT id, (%(given)s::jsonb ->> (place - 1))::timestamptz AS until FROM mine
), moved AS (
    UPDATE punctual_task t
    SET status = 'INIT', batch_no = NULL, solo = FALSE, execute_time = g.until, due_at = g.until,
        allowed_at = CASE WHEN g.until < clock_timestamp() THEN clock_timestamp() END, updated_at = clock_timestamp()
    FROM b, given g
    WHERE t.id = g.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant
), told AS (
    INSERT INTO punctual_outbox (tenant, event, task_id)
    SELECT tenant, 'task.snoozed', id FROM moved
)
--include figures
