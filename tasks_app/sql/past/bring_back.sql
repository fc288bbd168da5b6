-- bring_back: rows of units that are over become what they were before they were moved, finished and current, so that
-- something can take over from them. A row whose place was taken meanwhile comes back as not inserted; one from which
-- something took over meanwhile, and that was moved again, stays where it is.
WITH old AS MATERIALIZED (
    SELECT p.id, p.retention, p.updated_at
    FROM unnest(%(classes)s::text[], %(hot)s::float8[]) AS c(name, hot)
    JOIN punctual_past p ON p.retention = c.name AND p.updated_at >= statement_timestamp() - make_interval(secs => c.hot)
    WHERE p.id = ANY (%(ids)s::bigint[]) AND p.current
    ORDER BY p.id
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
    ORDER BY tenant, task_type, biz_key
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM back)
