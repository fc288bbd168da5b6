-- mend_superseded: rows in whose place a newer one of their unit stands are current no more; what is live of them is CANCELLED.
WITH mine AS MATERIALIZED (
    SELECT t.id, t.status AS was, t.due_at IS NOT NULL OR t.status IN ('RUNNING', 'AWAY', 'BLOCKED', 'INIT', 'FAIL') AS live
    FROM punctual_task t WHERE t.id = ANY (%(ids)s::bigint[])
), moved AS (
    UPDATE punctual_task t
    SET current = FALSE, due_at = NULL, batch_no = NULL, ran_in = coalesce(t.batch_no, t.ran_in),
        status = CASE WHEN mine.live THEN 'CANCELLED' ELSE t.status END,
        error_code = CASE WHEN mine.live THEN 'SUPERSEDED' ELSE t.error_code END,
        error_msg = CASE WHEN mine.live THEN 'a newer task of its unit stands in its place' ELSE t.error_msg END,
        cancelled_by = CASE WHEN mine.live THEN %(by)s::text ELSE t.cancelled_by END,
        finish_time = CASE WHEN mine.live THEN clock_timestamp() ELSE t.finish_time END,
        updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND (t.current OR mine.live)
      AND (EXISTS (SELECT FROM punctual_task c
                   WHERE c.biz_key = t.biz_key AND c.task_type = t.task_type AND c.tenant = t.tenant AND c.current
                     AND c.id > t.id)
           OR EXISTS (SELECT FROM punctual_past p
                      WHERE p.biz_key = t.biz_key AND p.task_type = t.task_type AND p.tenant = t.tenant AND p.current
                        AND p.id > t.id))
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.error_code, t.error_msg, mine.live
), home AS (
    DELETE FROM punctual_away a USING mine JOIN moved m ON m.id = mine.id WHERE mine.was = 'AWAY' AND a.task = m.id
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', m.error_code, 'reason', m.error_msg, 'by', %(by)s::text) AS data, TRUE AS with_data
    FROM moved m WHERE m.live
),
--include tell
SELECT id FROM moved
