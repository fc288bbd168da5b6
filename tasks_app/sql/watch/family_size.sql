-- family_size: how many jobs fire when this one does: itself, and all that wait for it.
WITH RECURSIVE family(job) AS (
    SELECT %(job)s::bigint
    UNION
    SELECT e.job FROM family f
    CROSS JOIN LATERAL (SELECT p.job FROM punctual_job_parent p WHERE p.parent = f.job ORDER BY p.job LIMIT 100000) AS e
)
SELECT count(*)::int FROM family
