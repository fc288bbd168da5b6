-- Whether a safeguard holds this campaign back: backfills of its type, of one of its jobs', or of what comes along with them. Shared
-- by take_campaign, campaign_wait and take_chores.
kind = 'backfill' AND EXISTS (
    SELECT FROM punctual_curb c
    WHERE c.kind = 'backfills' AND c.of_tenant IN ('', punctual_campaign.tenant)
      AND (c.target = '*' OR c.target = task_type OR options -> 'types' ? c.target OR (task_type IS NULL AND EXISTS (
          SELECT FROM punctual_backfill f JOIN punctual_job j ON j.id = f.job
          WHERE f.campaign_id = punctual_campaign.id AND j.task_type = c.target))))
