-- unchained: the next entries that get their places, by number; the look that found them, if it found more than a part; the time.
-- A look takes all that was committed before it, in one snapshot: what is committed later gets a later place, so places are in
-- the order of commit. One that finds many is noted with them (note_look), and goes on until all of them have their places.
WITH look AS MATERIALIZED (
    SELECT looked_at FROM punctual_audit_unchained WHERE looked_at IS NOT NULL ORDER BY looked_at LIMIT 1
)
SELECT coalesce(array_agg(entry_id ORDER BY entry_id), '{}'), (SELECT looked_at FROM look), clock_timestamp()
FROM (
    SELECT entry_id FROM punctual_audit_unchained
    WHERE looked_at IS NOT DISTINCT FROM (SELECT looked_at FROM look) ORDER BY entry_id LIMIT %(most)s
) AS part
