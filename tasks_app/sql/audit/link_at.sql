-- link_at: the first place from this one on: when its entry was written, and its hash.
SELECT place, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), hash FROM punctual_audit_link
WHERE tenant = %(tenant)s AND place >= %(place)s ORDER BY place LIMIT 1
