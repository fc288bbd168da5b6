-- Nothing will happen to it any more. What is DEAD waits for a person as long as it is its unit's current row. So does what was
-- cancelled while others wait for its success; and a success that they wait with keeps its result for them.
t.due_at IS NULL AND (t.status IN ('SUCCESS', 'CANCELLED') OR (t.status = 'DEAD' AND NOT t.current))
AND CASE WHEN t.job IS NOT NULL AND t.current AND (t.status = 'CANCELLED' OR t.result IS NOT NULL)
         THEN (SELECT w.parent FROM punctual_wait w WHERE w.parent = t.id LIMIT 1) IS NULL ELSE TRUE END
