-- mend_turns: instances that have the turn of their job beside an older one, and do not run yet, go back into its line.
-- What lies aside stays there: its time is kept elsewhere.
-- The caller has locked their jobs, so nobody gives a turn beside this.
WITH moved AS (
    UPDATE punctual_task t
    SET status = 'BLOCKED', due_at = NULL, updated_at = clock_timestamp()
    FROM punctual_turn w
    WHERE t.id = ANY (%(ids)s::bigint[]) AND w.task = t.id AND w.state = 'taken' AND NOT w.alongside
      AND t.current AND t.due_at < %(never)s::timestamptz AND t.status IN ('INIT', 'FAIL')
      AND EXISTS (SELECT FROM punctual_turn o JOIN punctual_task p ON p.id = o.task
                  WHERE o.job = w.job AND o.state = 'taken' AND NOT o.alongside AND o.task < t.id
                    AND (p.due_at IS NOT NULL OR p.status NOT IN ('SUCCESS', 'DEAD', 'CANCELLED')))
    RETURNING t.id
), back AS (
    UPDATE punctual_turn w SET state = 'queued' FROM moved m WHERE w.task = m.id AND w.state = 'taken'
)
SELECT id FROM moved
