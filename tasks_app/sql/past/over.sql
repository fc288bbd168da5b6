-- Nothing will happen to it any more. What is DEAD waits for a person as long as it is its unit's current row.
t.due_at IS NULL AND (t.status IN ('SUCCESS', 'CANCELLED') OR (t.status = 'DEAD' AND NOT t.current))
