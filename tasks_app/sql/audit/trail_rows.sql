-- trail_rows: the next trails by tenant, with where each begins and ends.
SELECT tenant, place, hash, floor_place, floor_hash FROM punctual_audit_trail
WHERE tenant > %(after)s OR %(first)s::bool ORDER BY tenant LIMIT %(step)s
