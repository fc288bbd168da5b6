-- claim_in_order: as claim, in a lane that tenants share: with each batch, how many tasks of which tenant were claimed in all;
-- and which they are, if somebody keeps account of single ones.
--include due_of_shards
--include batches_of_due
    RETURNING t.tenant
--include batches_told
    , CASE WHEN %(with_ids)s THEN ids END
    , (SELECT jsonb_object_agg(tenant, tasks) FROM (SELECT tenant, count(*) AS tasks FROM moved GROUP BY tenant) AS whose)::text
