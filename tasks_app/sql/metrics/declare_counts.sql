-- declare_counts: begin to count now; what was before this is not counted. Where somebody has begun, nothing is done: not
-- even a wait for whoever is counting.
INSERT INTO punctual_count_pass (counted_until, letters_counted, letters_seen)
SELECT clock_timestamp(), newest.id, newest.id
FROM (SELECT coalesce(max(id), 0) AS id FROM punctual_dead_letter) AS newest
WHERE NOT EXISTS (SELECT FROM punctual_count_pass WHERE id = 1)
ON CONFLICT (id) DO NOTHING
