-- prune_reports: reports about runs that were never handed over: they failed, or their worker died.
DELETE FROM punctual_early_report
WHERE at < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_early_report WHERE at < now() - make_interval(secs => %(keep)s) ORDER BY at LIMIT %(step)s
))
RETURNING 1
