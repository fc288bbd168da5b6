-- renew_away: renew the lease of a task that is away, from now, because its system is still at work.
UPDATE punctual_away a
SET lease = coalesce(%(lease)s::float8, a.lease),
    until = clock_timestamp() + make_interval(secs => coalesce(%(lease)s::float8, a.lease))
FROM punctual_task t
WHERE a.task = %(task)s AND a.run = %(run)s AND t.id = a.task AND t.status = 'AWAY' AND t.ran_in = a.run
RETURNING a.until
