-- prune_campaigns: those that were done or cancelled long ago, with the tasks that they chose, in a small step.
WITH old AS MATERIALIZED (
    SELECT id FROM punctual_campaign WHERE finished_at < now() - make_interval(secs => %(keep)s)
    ORDER BY finished_at LIMIT %(step)s
), chunks AS (
    DELETE FROM punctual_campaign_chunk WHERE campaign_id IN (SELECT id FROM old)
)
DELETE FROM punctual_campaign WHERE id IN (SELECT id FROM old) RETURNING id
