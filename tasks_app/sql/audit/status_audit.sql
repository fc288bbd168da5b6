-- status_audit: since when the oldest entry without a place waits, how old the last anchor is, how many entries were deleted
-- before they had a place, counted up to `most`, and how long ago the last of them was missed.
SELECT (SELECT extract(epoch FROM clock_timestamp() - created_at)::float8 FROM punctual_audit_unchained
        ORDER BY entry_id LIMIT 1),
       a.no, extract(epoch FROM clock_timestamp() - a.at)::float8,
       (SELECT count(*) FROM (SELECT FROM punctual_audit_missing LIMIT %(most)s) AS few),
       (SELECT extract(epoch FROM clock_timestamp() - noticed_at)::float8 FROM punctual_audit_missing
        ORDER BY noticed_at DESC LIMIT 1)
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (SELECT no, at FROM punctual_audit_anchor ORDER BY no DESC LIMIT 1) AS a ON TRUE
