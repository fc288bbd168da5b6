-- mark_away: RUNNING rows of this batch -> AWAY: another system has them now, and reports their outcome.
-- The run continues under the number of this batch, which ends without it. Its lease is in punctual_away.
WITH
--include mark_success.mine
, given AS MATERIALIZED (
    SELECT id, (g ->> 'begun')::bigint * interval '1 microsecond' AS begun, (g ->> 'lease')::float8 AS lease
    FROM (SELECT id, %(given)s::jsonb -> (width_bucket(id, %(ids)s::bigint[]) - 1) AS g FROM mine) AS one
), moved AS (
    UPDATE punctual_task t
    SET status = 'AWAY', batch_no = NULL, ran_in = t.batch_no, solo = FALSE, allowed_at = greatest(t.allowed_at, b.allowed_at),
        start_time = b.started_at + g.begun, finish_time = NULL, updated_at = clock_timestamp()
    FROM b, given g
    WHERE t.id = g.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.attempt, t.ran_in, g.lease
), away AS (
    INSERT INTO punctual_away (task, run, task_type, worker, lease, since, until)
    SELECT m.id, m.ran_in, m.task_type, b.worker, m.lease, clock_timestamp(), clock_timestamp() + make_interval(secs => m.lease)
    FROM moved m, b
    ON CONFLICT (task) DO UPDATE SET run = excluded.run, worker = excluded.worker, lease = excluded.lease,
                                     since = excluded.since, until = excluded.until
    RETURNING task, until
), news AS NOT MATERIALIZED (
    SELECT 'task.away' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           (SELECT worker FROM b) AS worker, (SELECT batch_no FROM b) AS batch_no, m.attempt + 1 AS attempt, NULL::text AS state,
           jsonb_build_object('until', a.until) AS data, TRUE AS with_data
    FROM moved m JOIN away a ON a.task = m.id
),
--include tell
--include mark_success.figures
