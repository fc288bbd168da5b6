-- entries_to_chain: of these entries those that still wait for a place, by id.
SELECT
--include entry_columns
FROM punctual_audit_unchained u
CROSS JOIN LATERAL (
    SELECT * FROM punctual_audit_entry x WHERE x.id = u.entry_id AND x.created_at = u.created_at LIMIT 1
) AS e
WHERE u.entry_id = ANY (%(ids)s::bigint[])
ORDER BY e.id
