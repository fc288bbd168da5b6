-- parents_in_run: the same as parents_of, for tasks of jobs whose parents were changed: if their run was made before that, it is
-- the graph of the run that counts. Those whose run is younger, or gone, are left out. A parent goes by its name of today.
SELECT u.id, coalesce(jsonb_object_agg(coalesce(j.name, n.name), jsonb_build_array(p.id, p.status, p.result))
                      FILTER (WHERE p.id IS NOT NULL), '{}')::text
FROM unnest(%(ids)s::bigint[], %(jobs)s::bigint[], %(labels)s::text[]) AS u(id, job, label)
CROSS JOIN LATERAL (SELECT d.linked_at FROM punctual_job d WHERE d.id = u.job LIMIT 1) AS d
CROSS JOIN LATERAL (
    SELECT r.nodes, node -> 2 AS parents
    FROM (SELECT r.id, r.nodes FROM punctual_run r
          WHERE r.label = u.label AND r.created_at < d.linked_at ORDER BY r.label LIMIT 100000) AS r
    CROSS JOIN LATERAL jsonb_array_elements(r.nodes) AS node
    WHERE (node ->> 0)::bigint = u.job
    ORDER BY r.id DESC
    LIMIT 1
) AS own
LEFT JOIN LATERAL (
    SELECT (node ->> 0)::bigint AS parent, node ->> 1 AS name FROM jsonb_array_elements(own.nodes) AS node
    WHERE own.parents @> (node -> 0)
) AS n ON TRUE
LEFT JOIN LATERAL (SELECT d.name FROM punctual_job d WHERE d.id = n.parent LIMIT 1) AS j ON TRUE
LEFT JOIN LATERAL (
    (SELECT t.id, t.status, t.result FROM punctual_task t
     WHERE t.biz_key = n.parent || ':' || u.label AND t.job = n.parent AND t.current
     LIMIT 1)
    UNION ALL
    (SELECT t.id, t.status, t.result FROM punctual_past t
     WHERE t.biz_key = n.parent || ':' || u.label AND t.job = n.parent AND t.current
     ORDER BY t.id DESC
     LIMIT 1)
    LIMIT 1
) AS p ON TRUE
GROUP BY u.id
