-- moved_firings: single firings that somebody has skipped or moved, from or to the day that is looked at.
SELECT j.lane, o.fire_time + make_interval(secs => j.jitter_offset), o.moved_to
FROM punctual_firing_override o
CROSS JOIN LATERAL (SELECT lane, jitter_offset FROM punctual_job WHERE id = o.job AND status = 'ACTIVE' LIMIT 1) AS j
WHERE o.fire_time >= %(begins)s::timestamptz - interval '1 day' AND o.fire_time < %(ends)s::timestamptz
   OR o.moved_to >= %(begins)s::timestamptz AND o.moved_to < %(ends)s::timestamptz
LIMIT %(most)s
