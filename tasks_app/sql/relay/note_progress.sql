-- note_progress: how far a subscriber has got, and what is wrong if something is. Only of who still delivers it.
-- Whatever was delivered ends a failure: the next one begins anew.
UPDATE punctual_subscription
SET window_no = %(window_no)s::bigint, row_id = %(row_id)s::bigint, place = %(place)s::int,
    delivered = delivered + %(delivered)s::int,
    delivered_at = CASE WHEN %(delivered)s::int > 0 THEN clock_timestamp() ELSE delivered_at END,
    failing_since = CASE WHEN NOT %(failed)s::boolean THEN NULL WHEN %(delivered)s::int > 0 THEN clock_timestamp()
                         ELSE coalesce(failing_since, clock_timestamp()) END,
    attempts = %(attempts)s::int, last_error = %(error)s,
    next_try_at = CASE WHEN %(failed)s::boolean THEN clock_timestamp() + make_interval(secs => %(wait)s::float8) END
WHERE id = %(id)s::bigint AND holder = %(node_id)s AND fence = %(fence)s::bigint AND state = 'ACTIVE'
RETURNING date_part('epoch', clock_timestamp() - failing_since)
