-- take_back: scheduled instances of a job that nobody has claimed yet are gone, as if they had never been planned.
-- Of the job's history only what is not in the past yet is looked at (punctual_task_job).
-- One that is being claimed right now is waited for, and then it is RUNNING and stays. What was triggered by hand
-- stays, and so does what has been tried and then got another time: it was snoozed, or a person replayed it; and what has
-- begun and lost its worker (solo): it may have had its effect. One that was moved has the time that somebody gave it. What
-- waits for its turn has been claimed by nobody either. What a backfill has made is the backfill's: that is stopped by
-- itself. The caller has locked the job, so nobody gives turns meanwhile.
WITH made AS MATERIALIZED (
--include made_by_backfills
), scheduled AS (
    DELETE FROM punctual_task t
    WHERE t.job = %(job)s AND t.due_at IS NOT NULL AND t.status = 'INIT' AND NOT t.solo
      AND (t.claimed_due IS NULL OR t.execute_time = t.fire_time
           OR EXISTS (SELECT FROM punctual_firing_override o
                      WHERE o.job = t.job AND o.fire_time = t.fire_time AND o.moved_to = t.execute_time))
      AND NOT starts_with(t.biz_key, %(manual)s::text) AND NOT starts_with(t.biz_key, %(again)s::text)
      AND NOT EXISTS (SELECT FROM made WHERE made.id = t.id)
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), waiting AS (
    DELETE FROM punctual_task t
    WHERE t.id = ANY (ARRAY(SELECT w.task FROM punctual_turn w WHERE w.job = %(job)s AND w.state <> 'taken'))
      AND t.status = 'BLOCKED' AND NOT t.solo
      AND (t.claimed_due IS NULL OR t.execute_time = t.fire_time
           OR EXISTS (SELECT FROM punctual_firing_override o
                      WHERE o.job = t.job AND o.fire_time = t.fire_time AND o.moved_to = t.execute_time))
      AND NOT starts_with(t.biz_key, %(manual)s::text) AND NOT starts_with(t.biz_key, %(again)s::text)
      AND NOT EXISTS (SELECT FROM made WHERE made.id = t.id)
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), gone AS MATERIALIZED (
    SELECT * FROM scheduled UNION ALL SELECT * FROM waiting
), turns AS (
    DELETE FROM punctual_turn w WHERE w.task = ANY (ARRAY(SELECT id FROM gone))
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, g.id, g.tenant, g.task_type, g.biz_key AS key, g.job, g.fire_time, g.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'TAKEN_BACK', 'reason', 'its job was changed', 'by', %(by)s::text) AS data, TRUE AS with_data
    FROM gone g
),
--include tell
SELECT fire_time, biz_key, id FROM gone ORDER BY fire_time
