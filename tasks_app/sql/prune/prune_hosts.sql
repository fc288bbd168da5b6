-- prune_hosts: hosts that failed once and were not called again for long, in a small step.
DELETE FROM punctual_host_health
WHERE failed_at < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_host_health WHERE failed_at < now() - make_interval(secs => %(keep)s)
    ORDER BY failed_at LIMIT %(step)s
))
RETURNING 1
