-- strike_waiting: these get no place, and wait no longer. Of those that are gone it is kept that they were there; the others have the
-- number of an entry that has its place. Returns how many of each.
WITH struck AS (
    DELETE FROM punctual_audit_unchained WHERE entry_id = ANY (%(ids)s::bigint[]) RETURNING entry_id, created_at
), gone AS MATERIALIZED (
    SELECT s.entry_id, s.created_at FROM struck s
    WHERE (SELECT TRUE FROM punctual_audit_entry e WHERE e.id = s.entry_id AND e.created_at = s.created_at LIMIT 1) IS NOT TRUE
), kept AS (
    INSERT INTO punctual_audit_missing (entry_id, created_at) SELECT entry_id, created_at FROM gone ON CONFLICT DO NOTHING
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM struck) - (SELECT count(*) FROM gone)
