-- prune_campaigns: those that were done or cancelled long ago, with the tasks that they chose, in a small step.
-- The chunks of each are looked up by themselves: joined freely, a few campaigns make PostgreSQL read the chunks of all.
WITH old AS MATERIALIZED (
    SELECT id FROM punctual_campaign WHERE finished_at < now() - make_interval(secs => %(keep)s)
    ORDER BY finished_at LIMIT %(step)s
), chunks AS (
    DELETE FROM punctual_campaign_chunk WHERE ctid = ANY (ARRAY(
        SELECT c.ctid FROM old CROSS JOIN LATERAL (
            SELECT k.ctid FROM punctual_campaign_chunk k WHERE k.campaign_id = old.id ORDER BY k.number LIMIT 10000
        ) AS c
    ))
)
DELETE FROM punctual_campaign WHERE id = ANY (ARRAY(SELECT id FROM old)) RETURNING id
