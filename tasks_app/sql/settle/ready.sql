-- ready: of tasks that were claimed ahead of their time, those that are still ours, whether they are due now, and whether they may
-- begin: not if their lane was paused meanwhile, their tenant was suspended, or nothing may run here (see start).
-- By now(), which is before what is read here was: what somebody did to a task until it was due is seen.
SELECT t.id, t.claimed_due <= now() AS due,
       NOT EXISTS (SELECT FROM punctual_lane_pause p WHERE p.lane = b.lane)
       AND NOT EXISTS (SELECT FROM punctual_installation i WHERE i.state <> 'ACTIVE' OR i.site IS DISTINCT FROM %(site)s)
       AND NOT EXISTS (SELECT FROM punctual_tenant s WHERE s.name = t.tenant AND s.state = 'SUSPENDED') AS may,
       date_part('epoch', clock_timestamp()) AS clock
FROM punctual_batch b
JOIN punctual_task t ON t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
WHERE b.batch_no = %(batch_no)s AND b.finished_at IS NULL
