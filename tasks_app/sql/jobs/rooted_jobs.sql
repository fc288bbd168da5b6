-- rooted_jobs: of each schedule, the jobs of a page that have children, in order of id, with how many jobs come along.
WITH RECURSIVE root AS MATERIALIZED (
    SELECT d.id FROM punctual_job d
    WHERE d.cursor = %(cursor)s AND d.id > %(low)s AND d.id <= %(high)s AND d.status = 'ACTIVE' AND d.has_children
    ORDER BY d.id
    LIMIT %(most)s
), family(first, job) AS (
    SELECT id, id FROM root
    UNION
    SELECT f.first, e.job FROM family f
    CROSS JOIN LATERAL (SELECT p.job FROM punctual_job_parent p WHERE p.parent = f.job ORDER BY p.job LIMIT 100000) AS e
)
SELECT first, count(*) FROM family GROUP BY first ORDER BY first
