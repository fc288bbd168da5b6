-- links_after: the next places of a trail, each with its entry if there is one.
-- An entry is looked up by its id and time, each for itself (LIMIT 1): whatever the planner expects, it reads no whole table.
SELECT k.place, k.entry_id, to_char(k.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), k.digest, k.hash,
       to_char(k.chained_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
--include entry_columns
FROM (
    SELECT * FROM punctual_audit_link
    WHERE tenant = %(tenant)s AND place > %(after)s AND place <= %(until)s ORDER BY place LIMIT %(step)s::int
) AS k
LEFT JOIN LATERAL (
    SELECT * FROM punctual_audit_entry x WHERE x.id = k.entry_id AND x.created_at = k.at LIMIT 1
) AS e ON TRUE
ORDER BY k.place
