-- advance_campaign: a step is done; in its own transaction, so that it is counted exactly if it happened.
-- What the rate allowed and nobody used is made up for, but no more than the slack: after an hour without a beat the
-- campaign doesn't catch up at once.
UPDATE punctual_campaign
SET done = done + %(taken)s, counts = %(counts)s::jsonb, waiting = waiting + %(released)s,
    measure_at = CASE WHEN waiting + %(released)s > 0
                      THEN coalesce(measure_at, clock_timestamp() + make_interval(
                               secs => CASE WHEN most_running IS NULL THEN %(every)s::float8 ELSE %(soon)s::float8 END)) END,
    next_at = CASE WHEN rate IS NULL THEN clock_timestamp()
                   ELSE greatest(next_at, clock_timestamp() - make_interval(secs => %(slack)s))
                        + make_interval(secs => %(taken)s::int / rate) END,
    holder = %(holder)s, held_until = clock_timestamp() + make_interval(secs => %(lease)s), failures = 0, error = '',
    state = CASE WHEN done + %(taken)s >= total THEN 'DONE' ELSE state END,
    finished_at = CASE WHEN done + %(taken)s >= total THEN clock_timestamp() END
WHERE id = %(campaign)s AND state = 'RUNNING' AND done = %(done)s
RETURNING state
