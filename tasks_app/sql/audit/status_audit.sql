-- status_audit: since when the oldest entry without a place waits, and how old the last anchor is.
SELECT (SELECT extract(epoch FROM clock_timestamp() - created_at)::float8 FROM punctual_audit_unchained
        ORDER BY entry_id LIMIT 1),
       a.no, extract(epoch FROM clock_timestamp() - a.at)::float8
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (SELECT no, at FROM punctual_audit_anchor ORDER BY no DESC LIMIT 1) AS a ON TRUE
