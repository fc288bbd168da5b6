-- claim_in_order: as claim, in a lane that tenants share: with each batch, how many tasks of which tenant were claimed in all;
-- and which they are, if somebody keeps account of single ones.
--include due_of_shards
--include batches_of_due
    , CASE WHEN %(with_ids)s THEN ids END
    , (SELECT jsonb_object_agg(tenant, tasks)
       FROM (SELECT t.tenant, count(*) AS tasks FROM punctual_task t
             WHERE t.ctid = ANY (ARRAY(SELECT unnest(spots) FROM batch)) GROUP BY t.tenant) AS whose)::text
