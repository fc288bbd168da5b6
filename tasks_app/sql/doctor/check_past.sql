-- check_past: only what is over is in the past.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_past
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE t.due_at IS NOT NULL OR t.batch_no IS NOT NULL OR t.status NOT IN ('SUCCESS', 'CANCELLED', 'DEAD')
   OR (t.status = 'DEAD' AND t.current)
