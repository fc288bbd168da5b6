-- renew_away: whoever has this task is still at work: it has as long as the lease says, counted from now.
UPDATE punctual_away a
SET lease = coalesce(%(lease)s::float8, a.lease),
    until = clock_timestamp() + make_interval(secs => coalesce(%(lease)s::float8, a.lease))
FROM punctual_task t
WHERE a.task = %(task)s AND a.run = %(run)s AND t.id = a.task AND t.status = 'AWAY' AND t.ran_in = a.run
RETURNING a.until
