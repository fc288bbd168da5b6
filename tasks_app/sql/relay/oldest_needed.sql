-- oldest_needed: when the oldest event was written that some subscriber has not got; empty: all have all.
SELECT min(greatest(w.min_at, s.since))
FROM (SELECT window_no, min(coalesce(since, '-infinity')) AS since FROM punctual_subscription GROUP BY window_no) AS s
JOIN punctual_outbox_window w ON w.no >= s.window_no AND w.max_at >= s.since
