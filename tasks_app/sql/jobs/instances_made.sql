-- What else is written with new instances, and what is told of them.
    RETURNING tenant, task_type, biz_key, id, coalesce(due_at, allowed_at, execute_time) AS due_at, replaces, job, fire_time,
              idem_key, shard, allowed_at, execute_time
), counted AS (
    UPDATE punctual_job d
    SET runs = d.runs + 1, cursor = CASE WHEN d.runs + 1 < d.max_runs THEN d.cursor END
    FROM created WHERE %(counted)s AND d.id = created.job AND d.max_runs IS NOT NULL
), turns AS (
    INSERT INTO punctual_turn (task, job, shard, at, policy)
    SELECT c.id, c.job, d.shard,
           greatest(CASE WHEN c.execute_time = c.fire_time THEN c.fire_time + make_interval(secs => d.jitter_offset)
                         ELSE c.execute_time END, c.allowed_at),
           CASE WHEN %(backfill)s::bool THEN 'backfill'
                WHEN c.allowed_at IS NOT NULL OR c.fire_time = ANY (%(caught_up)s::timestamptz[]) THEN 'queue_all'
                ELSE d.overlap END
    FROM created c
    CROSS JOIN LATERAL (
        SELECT d.shard, d.jitter_offset, d.overlap FROM punctual_job d WHERE d.id = c.job AND d.overlap <> 'allow' LIMIT 1
    ) AS d
    WHERE %(turns)s
--include created
SELECT shard, count(*), date_part('epoch', min(due_at)), array_agg(id) FILTER (WHERE %(backfill)s::bool OR %(rooted)s::bool),
       array_agg(biz_key::text) FILTER (WHERE %(backfill)s::bool)
FROM created
GROUP BY shard
