-- changed_heads: the trails that have moved, or were trimmed, since the anchor before; and when the oldest that is kept of
-- each was written. Not a broken one: what its head says is not signed.
SELECT t.tenant, t.place, t.hash, t.floor_place, t.floor_hash,
       (SELECT to_char(k.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM punctual_audit_link k
        WHERE k.tenant = t.tenant AND k.place = t.floor_place + 1 LIMIT 1)
FROM punctual_audit_trail t
WHERE (t.anchored_place <> t.place OR t.anchored_floor <> t.floor_place) AND punctual_trail_sound(t.tenant)
ORDER BY t.tenant
