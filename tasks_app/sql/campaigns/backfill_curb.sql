-- Whether curb `c` holds back the backfill in punctual_campaign: its type, that of one of its jobs, or of their downstream jobs.
-- Shared by backfill_held and campaign_holds.
c.kind = 'backfills' AND c.of_tenant IN ('', punctual_campaign.tenant)
  AND (c.target = '*' OR c.target = punctual_campaign.task_type OR punctual_campaign.options -> 'types' ? c.target
       OR (punctual_campaign.task_type IS NULL AND EXISTS (
           SELECT FROM punctual_backfill f JOIN punctual_job j ON j.id = f.job
           WHERE f.campaign_id = punctual_campaign.id AND j.task_type = c.target)))
