-- prune_safeguards: incidents of safeguards that were closed long ago, in a small step.
DELETE FROM punctual_safeguard_incident
WHERE closed_at < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_safeguard_incident WHERE closed_at < now() - make_interval(secs => %(keep)s)
    ORDER BY closed_at LIMIT %(step)s
))
RETURNING 1
