-- family_sizes: of these jobs, those that others come after: how many jobs the graph below each has, with itself.
WITH RECURSIVE first AS MATERIALIZED (
    SELECT d.id FROM unnest(%(jobs)s::bigint[]) AS one(id)
    CROSS JOIN LATERAL (SELECT d.id FROM punctual_job d WHERE d.id = one.id AND d.has_children LIMIT 1) AS d
), family(first, job) AS (
    SELECT id, id FROM first
    UNION
    SELECT f.first, e.job FROM family f
    CROSS JOIN LATERAL (SELECT p.job FROM punctual_job_parent p WHERE p.parent = f.job ORDER BY p.job LIMIT 100000) AS e
)
SELECT first, count(*) FROM family GROUP BY first
