-- take_back_firing: the instance of one firing is gone if nobody has claimed it, as if it had never been planned.
-- The guard is that of take_back: one that is being claimed right now is waited for, and then it is RUNNING and stays, and
-- what a backfill has made is the backfill's. One that waits for its turn has been claimed by nobody either.
WITH gone AS (
    DELETE FROM punctual_task t
    WHERE t.job = %(job)s AND t.fire_time = %(fire_time)s AND t.biz_key = %(key)s::text AND NOT t.solo
      AND (t.status = 'INIT' AND t.due_at IS NOT NULL
           OR t.status = 'BLOCKED' AND EXISTS (SELECT FROM punctual_turn w WHERE w.task = t.id AND w.state <> 'taken'))
      AND (t.claimed_due IS NULL OR t.execute_time = t.fire_time
           OR EXISTS (SELECT FROM punctual_firing_override o
                      WHERE o.job = t.job AND o.fire_time = t.fire_time AND o.moved_to = t.execute_time))
      AND NOT EXISTS (SELECT FROM punctual_backfill b
                      JOIN punctual_campaign_chunk c ON c.campaign_id = b.campaign_id AND c.waiting > 0
                      WHERE b.job = t.job AND t.id = ANY (c.released))
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), turns AS (
    DELETE FROM punctual_turn w WHERE w.task = ANY (ARRAY(SELECT id FROM gone))
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, g.id, g.tenant, g.task_type, g.biz_key AS key, g.job, g.fire_time, g.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'TAKEN_BACK', 'reason', 'its firing was moved, skipped or restored',
                              'by', %(by)s::text) AS data, TRUE AS with_data
    FROM gone g
),
--include tell
SELECT id FROM gone
