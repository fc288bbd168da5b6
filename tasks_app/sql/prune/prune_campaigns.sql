-- prune_campaigns: those that were done or cancelled long ago, with the tasks that they chose, in a small step.
-- By an array: joined freely, a few campaigns make PostgreSQL read the chunks of all.
WITH old AS MATERIALIZED (
    SELECT ARRAY(SELECT id FROM punctual_campaign WHERE finished_at < now() - make_interval(secs => %(keep)s)
                 ORDER BY finished_at LIMIT %(step)s) AS ids
), chunks AS (
    DELETE FROM punctual_campaign_chunk WHERE campaign_id = ANY ((SELECT ids FROM old)::bigint[])
)
DELETE FROM punctual_campaign WHERE id = ANY ((SELECT ids FROM old)::bigint[]) RETURNING id
