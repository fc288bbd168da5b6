-- prune_quota_use: what tenants used of their quotas long ago, in a small step.
DELETE FROM punctual_quota_use
WHERE hour < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_quota_use WHERE hour < now() - make_interval(secs => %(keep)s)
    ORDER BY hour LIMIT %(step)s
))
RETURNING 1
