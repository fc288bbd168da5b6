-- complete: AWAY rows, each in the run that is named -> SUCCESS, as reported by another system; a rolling one is due again.
-- The run is the fence: a report for an earlier run matches no row. The batch of the run has already ended without this
-- outcome, so it is counted here.
-- Rolling rows are returned with their type, which may have a timer. Finished rows are returned with whether others depend
-- on them.
WITH given AS MATERIALIZED (
    SELECT one.id, one.run, nullif(%(results)s::jsonb -> (one.place - 1)::int, 'null'::jsonb) AS result
    FROM unnest(%(ids)s::bigint[], %(runs)s::uuid[]) WITH ORDINALITY AS one(id, run, place)
), mine AS MATERIALIZED (
    SELECT t.id, g.run, g.result, t.attempt
    FROM given g JOIN punctual_task t ON t.id = g.id AND t.status = 'AWAY' AND t.ran_in = g.run
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
), moved AS (
    UPDATE punctual_task t
    SET status = 'SUCCESS', attempt = 0, error_code = '', error_msg = '', result = m.result, finish_time = clock_timestamp(),
        due_at = clock_timestamp() + t.repeat_after, updated_at = clock_timestamp()
    FROM mine m
    WHERE t.id = m.id AND t.status = 'AWAY' AND t.ran_in = m.run
    RETURNING t.id, t.tenant, t.lane, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.status, t.due_at,
              m.attempt + 1 AS attempt
), home AS (
    DELETE FROM punctual_away a USING moved m WHERE a.task = m.id
), arrived AS (
    DELETE FROM punctual_progress p USING moved m WHERE p.task = m.id
), counted AS (
    INSERT INTO punctual_away_outcome (at, lane, task_type, ok, failed)
    SELECT clock_timestamp(), lane, task_type, count(*), 0 FROM moved GROUP BY lane, task_type
), noted AS (
    INSERT INTO punctual_scope_outcome (tenant, target, backfill, ok, failed)
    SELECT m.tenant, m.task_type, m.lane = 'backfill', count(*), 0 FROM moved m
    WHERE m.task_type <> 'HTTP_CALLBACK' AND EXISTS (SELECT FROM punctual_scope_minute s WHERE s.target = m.task_type)
    GROUP BY m.tenant, m.task_type, m.lane = 'backfill'
), news AS NOT MATERIALIZED (
    SELECT 'task.succeeded' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, m.attempt, NULL::text AS state, NULL::jsonb AS data, FALSE AS with_data
    FROM moved m
),
--include tell
SELECT id, status, task_type, due_at, due_at IS NOT NULL,
       due_at IS NULL AND job IS NOT NULL AND EXISTS (SELECT FROM punctual_wait w WHERE w.parent = moved.id)
FROM moved
