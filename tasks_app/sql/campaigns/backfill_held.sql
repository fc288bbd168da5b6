-- Whether a safeguard or a recovery holds this campaign back. Shared by take_campaign, campaign_wait and take_chores.
punctual_campaign.kind = 'backfill' AND EXISTS (
    SELECT FROM punctual_curb c
    WHERE
--include backfill_curb
)
