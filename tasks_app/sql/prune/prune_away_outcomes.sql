-- prune_away_outcomes: what was told of tasks that were away, and has been rolled up.
DELETE FROM punctual_away_outcome
WHERE at < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_away_outcome WHERE at < now() - make_interval(secs => %(keep)s) ORDER BY at LIMIT %(step)s
))
RETURNING 1
