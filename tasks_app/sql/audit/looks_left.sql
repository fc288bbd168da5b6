-- looks_left: whether a look has found entries that have no place yet.
SELECT EXISTS (SELECT FROM punctual_audit_unchained WHERE looked_at IS NOT NULL)
