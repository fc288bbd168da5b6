-- mend_away: AWAY rows that nobody has in their last run are due again; a lease of what is not away goes.
WITH moved AS (
    UPDATE punctual_task t
    SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, due_at = coalesce(t.claimed_due, t.execute_time),
        updated_at = clock_timestamp()
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.status = 'AWAY'
      AND NOT EXISTS (SELECT FROM punctual_away a WHERE a.task = t.id AND a.run = t.ran_in)
    RETURNING t.id
), gone AS (
    DELETE FROM punctual_away a
    WHERE a.task = ANY (%(ids)s::bigint[])
      AND NOT EXISTS (SELECT FROM punctual_task t WHERE t.id = a.task AND t.status = 'AWAY' AND t.ran_in = a.run)
    RETURNING a.task
)
SELECT id FROM moved UNION SELECT task FROM gone
