-- entries_to_chain: of these entries those that still wait for a place, by id. One with the number of another that has its place
-- gets none.
SELECT
--include entry_columns
FROM punctual_audit_unchained u
CROSS JOIN LATERAL (
    SELECT * FROM punctual_audit_entry x WHERE x.id = u.entry_id AND x.created_at = u.created_at LIMIT 1
) AS e
WHERE u.entry_id = ANY (%(ids)s::bigint[])
  AND (SELECT TRUE FROM punctual_audit_link k WHERE k.entry_id = u.entry_id LIMIT 1) IS NOT TRUE
ORDER BY e.id
