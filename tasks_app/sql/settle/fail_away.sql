-- fail_away: AWAY rows, each in the run that is named, have failed, as reported by another system.
-- The run is the fence, as in complete. `after` is the requested delay; NULL: the usual backoff.
WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(given)s::jsonb)
        AS one(id bigint, run uuid, final bool, after float8, code text, message text, tags jsonb)
), mine AS MATERIALIZED (
    SELECT g.*, t.attempt, a.worker
    FROM given g JOIN punctual_task t ON t.id = g.id AND t.status = 'AWAY' AND t.ran_in = g.run
    JOIN punctual_away a ON a.task = t.id
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
),
--include failed_away
