-- links: the whole graph that some jobs are part of: all that is below their roots, each with its parents.
WITH RECURSIVE up(id) AS (
    SELECT unnest(%(jobs)s::bigint[])
    UNION
    SELECT e.parent FROM up CROSS JOIN LATERAL (
        SELECT parent FROM punctual_job_parent WHERE job = up.id ORDER BY parent LIMIT 100000) AS e
), down(id) AS (
    SELECT id FROM up
    UNION
    SELECT e.job FROM down CROSS JOIN LATERAL (
        SELECT job FROM punctual_job_parent WHERE parent = down.id ORDER BY job LIMIT 100000) AS e
)
SELECT down.id, ARRAY(SELECT p.parent FROM punctual_job_parent p WHERE p.job = down.id ORDER BY p.parent) FROM down
ORDER BY down.id
