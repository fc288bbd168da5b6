-- mend_blocked: instances that are BLOCKED and wait for nothing -> back into the line of their job, which gives them their
-- turn when nobody else has it; INIT, due, if it allows overlap.
-- The caller has locked their jobs, so nobody gives a turn or changes the policy beside this.
WITH mine AS MATERIALIZED (
    SELECT t.id, t.job, t.execute_time, j.shard, j.overlap
    FROM punctual_task t JOIN punctual_job j ON j.id = t.job
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.status = 'BLOCKED'
      AND NOT EXISTS (SELECT FROM punctual_turn u WHERE u.task = t.id AND u.state <> 'taken')
      AND NOT EXISTS (SELECT FROM punctual_wait w WHERE w.task = t.id)
), lined AS (
    INSERT INTO punctual_turn AS u (task, job, shard, at, policy, state)
    SELECT id, job, shard, execute_time, overlap, 'new' FROM mine WHERE overlap <> 'allow'
    ON CONFLICT (task) DO UPDATE SET state = 'new' WHERE u.state = 'taken'
    RETURNING u.task AS id
), moved AS (
    UPDATE punctual_task t
    SET status = 'INIT', due_at = greatest(t.execute_time, clock_timestamp()), updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND mine.overlap = 'allow' AND t.status = 'BLOCKED'
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.due_at
), news AS NOT MATERIALIZED (
    SELECT 'task.released' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('at', m.due_at) AS data, TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id FROM moved UNION ALL SELECT id FROM lined
