-- mend_past: a row of the past that is not over goes back among what is live, as it is; other checks see to the rest.
-- If its place was taken, it comes back as not inserted. What the past has a newer copy of, or a newer current row of its
-- unit, stays: it would run again.
WITH old AS MATERIALIZED (
    SELECT p.id, p.retention, p.updated_at FROM punctual_past p
    WHERE p.id = %(id)s
      AND (p.due_at IS NOT NULL OR p.batch_no IS NOT NULL OR p.status NOT IN ('SUCCESS', 'CANCELLED', 'DEAD')
           OR (p.status = 'DEAD' AND p.current))
      AND NOT EXISTS (SELECT FROM punctual_past n
                      WHERE n.id = p.id AND (n.updated_at, n.retention) > (p.updated_at, p.retention))
      AND NOT EXISTS (SELECT FROM punctual_past n
                      WHERE n.biz_key = p.biz_key AND n.task_type = p.task_type AND n.tenant = p.tenant
                        AND n.current AND n.id > p.id)
    FOR UPDATE OF p
), gone AS (
    DELETE FROM punctual_past p USING old
    WHERE p.id = old.id AND p.retention = old.retention AND p.updated_at = old.updated_at
    RETURNING p.*
), back AS (
    INSERT INTO punctual_task (
--include columns
    )
    SELECT
--include columns
    FROM gone
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM back)
