-- gone_waiting: entries that were deleted before they had a place: what was found so, and what waits and is not there any more.
SELECT entry_id FROM (
    (SELECT entry_id FROM punctual_audit_missing ORDER BY entry_id LIMIT %(step)s::int)
    UNION ALL
    (SELECT u.entry_id FROM punctual_audit_unchained u
     WHERE (SELECT TRUE FROM punctual_audit_entry e WHERE e.id = u.entry_id AND e.created_at = u.created_at LIMIT 1) IS NOT TRUE
     ORDER BY u.entry_id LIMIT %(step)s::int)
    UNION ALL
    (SELECT s.entry_id FROM punctual_audit_skipped s
     WHERE (SELECT TRUE FROM punctual_audit_entry e WHERE e.id = s.entry_id AND e.created_at = s.created_at LIMIT 1) IS NOT TRUE
     LIMIT %(step)s::int)
) AS gone
ORDER BY entry_id LIMIT %(step)s::int
