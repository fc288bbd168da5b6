-- parents_of: for tasks that had to wait, what the parents of their jobs came to in the same run: by name, the task, its status
-- and its result. A parent that is not part of the run is left out. What is not among the live is looked up in the past.
SELECT u.id, jsonb_object_agg(j.name, jsonb_build_array(p.id, p.status, p.result))::text
FROM unnest(%(ids)s::bigint[], %(jobs)s::bigint[], %(labels)s::text[]) AS u(id, job, label)
CROSS JOIN LATERAL (SELECT e.parent FROM punctual_job_parent e WHERE e.job = u.job ORDER BY e.parent LIMIT 100000) AS e
CROSS JOIN LATERAL (SELECT d.name FROM punctual_job d WHERE d.id = e.parent LIMIT 1) AS j
CROSS JOIN LATERAL (
    (SELECT t.id, t.status, t.result FROM punctual_task t
     WHERE t.biz_key = e.parent || ':' || u.label AND t.job = e.parent AND t.current
     LIMIT 1)
    UNION ALL
    (SELECT t.id, t.status, t.result FROM punctual_past t
     WHERE t.biz_key = e.parent || ':' || u.label AND t.job = e.parent AND t.current
     ORDER BY t.id DESC
     LIMIT 1)
    LIMIT 1
) AS p
GROUP BY u.id
