-- take_back_days_off: instances that nobody has claimed of firings that a changed calendar leaves out are gone.
-- The guard is that of take_back. Of what a person has moved or triggered the caller names nothing. A job that has got a
-- child meanwhile was planned again by that, by the new days.
WITH gone AS (
    DELETE FROM punctual_task t
    USING unnest(%(jobs)s::bigint[], %(fires)s::timestamptz[], %(keys)s::text[]) AS u(job, fire_time, key)
    WHERE t.job = u.job AND t.fire_time = u.fire_time AND t.biz_key = u.key AND NOT t.solo
      AND (t.status = 'INIT' AND t.due_at IS NOT NULL
           OR t.status = 'BLOCKED' AND EXISTS (SELECT FROM punctual_turn w WHERE w.task = t.id AND w.state <> 'taken'))
      AND (t.claimed_due IS NULL OR t.execute_time = t.fire_time)
      AND NOT EXISTS (SELECT FROM punctual_backfill b
                      JOIN punctual_campaign_chunk c ON c.campaign_id = b.campaign_id AND c.waiting > 0
                      WHERE b.job = t.job AND t.id = ANY (c.released))
      AND NOT EXISTS (SELECT FROM punctual_job d WHERE d.id = t.job AND d.has_children)
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), turns AS (
    DELETE FROM punctual_turn w WHERE w.task = ANY (ARRAY(SELECT id FROM gone))
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, g.id, g.tenant, g.task_type, g.biz_key AS key, g.job, g.fire_time, g.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'TAKEN_BACK', 'reason', 'the calendar of its job was changed', 'by', 'planner') AS data,
           TRUE AS with_data
    FROM gone g
),
--include tell
SELECT id FROM gone
