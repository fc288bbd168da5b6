-- campaign_holds: of these campaigns, those whose next step a safeguard or a recovery holds back, and which one does; of several, the one
-- that began first.
SELECT DISTINCT ON (punctual_campaign.id) punctual_campaign.id, c.name, c.subject
FROM punctual_campaign, punctual_curb c
WHERE punctual_campaign.id = ANY (%(ids)s::bigint[])
  AND punctual_campaign.kind = 'backfill' AND punctual_campaign.state = 'RUNNING'
  AND
--include backfill_curb
ORDER BY punctual_campaign.id, c.id
