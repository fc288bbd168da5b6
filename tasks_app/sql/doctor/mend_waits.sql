-- mend_waits: BLOCKED instances that wait for a row which is nowhere wait for the rows that stand for the parents of their job in
-- the same run, `job:label`, instead; if there are as many as are missing. The caller has locked the instances.
WITH mine AS MATERIALIZED (
    SELECT t.id, t.job, substr(t.biz_key, length(t.job::text) + 2) AS label
    FROM punctual_task t
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.status = 'BLOCKED' AND t.job IS NOT NULL
), lost AS MATERIALIZED (
    SELECT m.id, w.parent
    FROM mine m
    CROSS JOIN LATERAL (SELECT parent, ended FROM punctual_wait WHERE task = m.id ORDER BY parent LIMIT 100000) AS w
    WHERE w.ended IS DISTINCT FROM 'SUCCESS' AND w.ended IS DISTINCT FROM 'NOT_NEEDED'
      AND (SELECT count(*) FROM punctual_task p WHERE p.id = w.parent) = 0
      AND (SELECT count(*) FROM punctual_past p WHERE p.id = w.parent) = 0
), stand AS MATERIALIZED (
    SELECT m.id, r.id AS parent
    FROM mine m
    CROSS JOIN LATERAL (SELECT e.parent FROM punctual_job_parent e WHERE e.job = m.job ORDER BY e.parent LIMIT 100000) AS e
    CROSS JOIN LATERAL (
        SELECT id FROM punctual_task WHERE biz_key = e.parent || ':' || m.label AND job = e.parent AND current LIMIT 1
    ) AS r
    WHERE (SELECT count(*) FROM punctual_wait w WHERE w.task = m.id AND w.parent = r.id) = 0
), mended AS MATERIALIZED (
    SELECT m.id FROM mine m
    WHERE (SELECT count(*) FROM lost l WHERE l.id = m.id) BETWEEN 1 AND (SELECT count(*) FROM stand s WHERE s.id = m.id)
), made AS (
    INSERT INTO punctual_wait (task, parent)
    SELECT s.id, s.parent FROM stand s JOIN mended USING (id)
    ORDER BY s.id, s.parent
    ON CONFLICT DO NOTHING
), gone AS (
    DELETE FROM punctual_wait w USING lost l JOIN mended USING (id) WHERE w.task = l.id AND w.parent = l.parent
)
SELECT id FROM mended
