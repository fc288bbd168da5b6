-- last_anchor: the newest one, and how old it is.
SELECT no, hash, extract(epoch FROM clock_timestamp() - at)::float8 FROM punctual_audit_anchor ORDER BY no DESC LIMIT 1
