-- retire: a row gives up `current` to the one that takes over; one whose run is under way is CANCELLED by that.
-- The idem_key leaves with the intent: it can be held by one row only.
WITH retired AS (
    UPDATE punctual_task t
    SET current = FALSE, due_at = NULL, batch_no = NULL, ran_in = coalesce(t.batch_no, t.ran_in),
        idem_key = CASE WHEN u.hand_on THEN NULL ELSE t.idem_key END,
        status = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN 'CANCELLED' ELSE t.status END,
        error_code = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN 'SUPERSEDED' ELSE t.error_code END,
        error_msg = CASE t.status WHEN 'RUNNING' THEN 'rescheduled while this attempt was running'
                                  WHEN 'AWAY' THEN 'rescheduled while this attempt was away' ELSE t.error_msg END,
        cancelled_by = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN %(by)s ELSE t.cancelled_by END,
        start_time = CASE WHEN t.status = 'RUNNING' AND t.claimed_due > clock_timestamp() THEN NULL
                          WHEN t.status = 'RUNNING'
                          THEN (SELECT greatest(r.started_at, t.claimed_due) FROM punctual_batch r
                                WHERE r.batch_no = t.batch_no AND r.started_at IS NOT NULL)
                          ELSE t.start_time END,
        finish_time = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN clock_timestamp() ELSE t.finish_time END,
        updated_at = clock_timestamp()
    FROM unnest(%(ids)s::bigint[], %(statuses)s::text[], %(hand_on)s::bool[]) AS u(id, status, hand_on)
    WHERE t.id = u.id AND t.current AND t.status = u.status
      AND (t.status IN ('RUNNING', 'AWAY') OR (t.due_at IS NULL AND t.status IN ('SUCCESS', 'DEAD', 'CANCELLED')))
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.status, t.error_code, t.error_msg, u.status AS was
), home AS (
    DELETE FROM punctual_away a USING retired r WHERE r.was = 'AWAY' AND a.task = r.id
), closed AS (
    UPDATE punctual_dead_letter d
    SET replay_status = 'CLOSED', closed_at = clock_timestamp(), closed_by = %(by)s
    FROM retired
    WHERE d.task_id = retired.id AND d.replay_status = 'OPEN'
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, r.id, r.tenant, r.task_type, r.biz_key AS key, r.job, r.fire_time, NULL::text AS idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', r.error_code, 'reason', r.error_msg, 'by', %(by)s::text) AS data, TRUE AS with_data
    FROM retired r WHERE r.was IN ('RUNNING', 'AWAY')
),
--include tell
SELECT id FROM retired
