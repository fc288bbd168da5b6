-- gone_waiting: of what waits for a place, what is not there any more.
SELECT u.entry_id FROM punctual_audit_unchained u
WHERE (SELECT TRUE FROM punctual_audit_entry e WHERE e.id = u.entry_id AND e.created_at = u.created_at LIMIT 1) IS NOT TRUE
ORDER BY u.entry_id LIMIT %(step)s::int
