-- unchained: the entries that were committed and have no place yet, and the time.
-- All of them, in one snapshot: what is committed later gets a later place, so places are in the order of commit.
SELECT coalesce(array_agg(entry_id ORDER BY entry_id), '{}'), clock_timestamp() FROM punctual_audit_unchained
