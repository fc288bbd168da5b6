-- claim_in_order: like claim, in a lane that tenants share. Each batch has the number of claimed tasks by tenant, with
-- their ids if the caller keeps count of single tasks. Also returns where the next claim continues (see claim).
--include claim.due
--include claim.batches
    RETURNING t.tenant
--include claim.inserted
    , (SELECT min(at) FROM (
        SELECT ARRAY[date_part('epoch', first_due), ids[1]] at FROM ranked WHERE place > (%(allowed)s::int[])[1]
        UNION ALL
        SELECT ARRAY[date_part('epoch', max(due_at)), (array_agg(id))[count(*)]] FROM due GROUP BY line
        HAVING count(*) >= (%(rows)s::int[])[1]
    ) seen)
    , CASE WHEN %(with_ids)s THEN ids END
    , (SELECT jsonb_object_agg(tenant, tasks) FROM (SELECT tenant, count(*) AS tasks FROM moved GROUP BY 1) whose)::text
