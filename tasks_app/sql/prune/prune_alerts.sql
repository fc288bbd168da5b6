-- prune_alerts: those that were sent or given up long ago, in a small step.
DELETE FROM punctual_alarm_alert
WHERE done_at < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_alarm_alert WHERE done_at < now() - make_interval(secs => %(keep)s)
    ORDER BY done_at LIMIT %(step)s
))
RETURNING 1
