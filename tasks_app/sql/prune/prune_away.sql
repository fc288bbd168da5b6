-- prune_away: leases that have run out of tasks that are away no more. Whoever ends a task takes its lease along; one that
-- died in between leaves it here, and it would stand in the way of those that lose has to find.
DELETE FROM punctual_away a
USING (SELECT task, run FROM punctual_away WHERE until < (SELECT clock_timestamp()) ORDER BY until LIMIT %(step)s) AS old
WHERE a.task = old.task AND a.run = old.run
  AND NOT EXISTS (SELECT FROM punctual_task t WHERE t.id = a.task AND t.status = 'AWAY' AND t.ran_in = a.run)
RETURNING 1
