-- trigger_job: an instance of a job that somebody asked for, due now. The same key is the same instance.
-- By any policy but `allow` it waits for its turn, which is decided as soon as this is committed.
WITH created AS (
    INSERT INTO punctual_task (tenant, task_type, biz_key, idem_key, job, fire_time, status, execute_time, due_at, lane,
                               shard, limited, max_retry, expires_after, payload)
    SELECT j.tenant, j.task_type, %(key)s::text, %(key)s::text, j.id, clock.now,
           CASE %(overlap)s::text WHEN 'allow' THEN 'INIT' ELSE 'BLOCKED' END, clock.now,
           CASE %(overlap)s::text WHEN 'allow' THEN clock.now END, j.lane, coalesce(%(home)s::smallint, j.shard), %(home)s::smallint IS NOT NULL, j.max_retry,
           j.expires_after, coalesce(%(payload)s::jsonb, j.payload)
    FROM punctual_job j, (SELECT clock_timestamp() AS now) AS clock
    WHERE j.id = %(job)s
    ON CONFLICT DO NOTHING
    RETURNING tenant, task_type, biz_key, id, coalesce(due_at, execute_time) AS due_at, replaces, job, fire_time, idem_key, shard
), turns AS (
    INSERT INTO punctual_turn (task, job, shard, at, policy)
    SELECT c.id, c.job, j.shard, c.due_at, %(overlap)s::text
    FROM created c JOIN punctual_job j ON j.id = %(job)s
    WHERE %(overlap)s::text <> 'allow'
--include created
SELECT id, shard FROM created
