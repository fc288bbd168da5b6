-- What backfills have made of a job, or replayed, and what of it may not be over yet. Shared by what changes a job.
    SELECT unnest(c.released) AS id
    FROM punctual_backfill b JOIN punctual_campaign_chunk c ON c.campaign_id = b.campaign_id AND c.waiting > 0
    WHERE b.job = %(job)s
