-- run_counts: of these runs, the name of the first job and how many tasks there are by status and type: how many of them failed,
-- and whether one has begun; without a status, those that are kept no longer. Each task is found as run_tasks finds it.
SELECT r.id, coalesce(r.name, ''), coalesce(c.counts, '[]')
FROM unnest(%(ids)s::bigint[]) AS one(id)
CROSS JOIN LATERAL (
    SELECT p.id, p.label, p.nodes, (SELECT node ->> 1 FROM jsonb_array_elements(p.nodes) AS node
                                    WHERE (node ->> 0)::bigint = p.job LIMIT 1) AS name
    FROM punctual_run p WHERE p.id = one.id LIMIT 1
) AS r
CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_array(s.status, s.task_type, s.count, s.failed, s.begun)) AS counts
    FROM (
        SELECT t.status, t.task_type, count(*) AS count,
               count(*) FILTER (WHERE t.status = 'DEAD' OR t.status = 'CANCELLED' AND t.error_code <> ALL (%(no_failures)s::text[]))
               AS failed,
               coalesce(bool_or(t.start_time IS NOT NULL OR t.status NOT IN ('INIT', 'BLOCKED')), TRUE) AS begun
        FROM jsonb_array_elements(r.nodes) AS node
        LEFT JOIN LATERAL (
            (SELECT status, task_type, error_code, start_time FROM punctual_task
             WHERE biz_key = (node ->> 0) || ':' || r.label AND job = (node ->> 0)::bigint AND current
             LIMIT 1)
            UNION ALL
            (SELECT status, task_type, error_code, start_time FROM punctual_past
             WHERE biz_key = (node ->> 0) || ':' || r.label AND job = (node ->> 0)::bigint AND current
             ORDER BY id DESC
             LIMIT 1)
            LIMIT 1
        ) AS t ON TRUE
        GROUP BY t.status, t.task_type
    ) AS s
) AS c
