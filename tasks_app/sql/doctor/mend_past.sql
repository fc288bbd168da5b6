-- mend_past: a row of the past that is not over goes back among what is live, as it is; other checks see to the rest.
-- If its place was taken, it comes back as not inserted.
WITH old AS MATERIALIZED (
    SELECT p.id, p.retention, p.updated_at FROM punctual_past p
    WHERE p.id = %(id)s
      AND (p.due_at IS NOT NULL OR p.batch_no IS NOT NULL OR p.status NOT IN ('SUCCESS', 'CANCELLED', 'DEAD')
           OR (p.status = 'DEAD' AND p.current))
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
