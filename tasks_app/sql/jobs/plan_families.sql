-- plan_families: for each of these new instances, one of every job below it in its graph, BLOCKED, for the same fire time;
-- and the run that all of them are, with the graph as it is now. The instance may be of any job of a graph: only what is
-- below it comes along. Instances that are there already are left alone, as plan_instances does; `lane` and `backfill` are as
-- there. Each job is looked up by itself: joined freely, a few instances make PostgreSQL read the jobs of all.
WITH RECURSIVE first AS MATERIALIZED (
    SELECT t.id, t.tenant, t.job, t.fire_time, t.execute_time, substr(t.biz_key, length(t.job::text) + 2) AS label
    FROM unnest(%(ids)s::bigint[]) AS one(id)
    CROSS JOIN LATERAL (SELECT * FROM punctual_task WHERE id = one.id LIMIT 1) AS t
    CROSS JOIN LATERAL (SELECT FROM punctual_job d WHERE d.id = t.job AND d.has_children LIMIT 1) AS d
), family(first, job) AS (
    SELECT DISTINCT job, job FROM first
    UNION
    SELECT f.first, e.job FROM family f
    CROSS JOIN LATERAL (SELECT p.job FROM punctual_job_parent p WHERE p.parent = f.job ORDER BY p.job LIMIT 100000) AS e
), shape AS MATERIALIZED (
    SELECT f.first, f.job, j.name, ARRAY(
        SELECT p.parent FROM punctual_job_parent p WHERE p.job = f.job AND f.job <> f.first ORDER BY p.parent) AS parents
    FROM family f
    CROSS JOIN LATERAL (SELECT d.name FROM punctual_job d WHERE d.id = f.job LIMIT 1) AS j
), runs AS (
    INSERT INTO punctual_run AS r (tenant, job, label, fire_time, nodes, backfill)
    SELECT f.tenant, f.job, f.label, f.fire_time, s.nodes, %(backfill)s::bool
    FROM first f
    JOIN (SELECT s.first, jsonb_agg(jsonb_build_array(s.job, s.name, to_jsonb(s.parents)) ORDER BY s.job) AS nodes
          FROM shape s GROUP BY s.first) AS s ON s.first = f.job
    ORDER BY f.job, f.label
    ON CONFLICT (job, label) DO UPDATE SET backfill = TRUE WHERE excluded.backfill AND NOT r.backfill
), created AS (
    INSERT INTO punctual_task (tenant, task_type, biz_key, idem_key, token, job, fire_time, status, execute_time,
                               lane, shard, limited, max_retry, expires_after, payload)
    SELECT j.tenant, j.task_type, j.id || ':' || f.label, j.id || ':' || f.label,
           md5(%(salt)s::text || j.id || ':' || f.label)::uuid, j.id, f.fire_time, 'BLOCKED', f.execute_time,
           coalesce(%(lane)s::text, j.lane), coalesce(l.home, j.shard), l.home IS NOT NULL, j.max_retry,
           CASE WHEN NOT %(backfill)s::bool THEN j.expires_after END, j.payload
    FROM (SELECT clock_timestamp() AS now) AS clock, first f
    JOIN family ON family.first = f.job AND family.job <> f.job
    CROSS JOIN LATERAL (SELECT * FROM punctual_job d WHERE d.id = family.job LIMIT 1) AS j
    LEFT JOIN unnest(%(limited)s::text[], %(homes)s::smallint[]) AS l(task_type, home) ON l.task_type = j.task_type
    WHERE CASE WHEN f.fire_time < clock.now
               THEN NOT EXISTS (SELECT FROM punctual_past p WHERE p.job = j.id AND p.fire_time = f.fire_time
                                AND p.biz_key = j.id || ':' || f.label) ELSE TRUE END
    ORDER BY (j.id || ':' || f.label) COLLATE "C"
    ON CONFLICT DO NOTHING
    RETURNING tenant, task_type, biz_key, id, execute_time, job, fire_time, idem_key
), news AS NOT MATERIALIZED (
    SELECT 'task.created' AS event, c.id, c.tenant, c.task_type, c.biz_key AS key, c.job, c.fire_time, c.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, 'BLOCKED' AS state,
           jsonb_build_object('at', c.execute_time) AS data, TRUE AS with_data
    FROM created c
),
--include tell
SELECT coalesce(array_agg(id), '{}') FROM created
