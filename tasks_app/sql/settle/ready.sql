-- ready: of tasks that were claimed ahead, those that still belong to the batch, whether they are due, and whether they may
-- begin: not if their lane was paused, their tenant was suspended, or work is not permitted here (see start).
-- By now(), which is earlier than the snapshot: all changes up to the due time are seen.
SELECT t.id, t.claimed_due <= now() AS due,
       NOT EXISTS (SELECT FROM punctual_lane_pause p WHERE p.lane = b.lane)
       AND NOT EXISTS (SELECT FROM punctual_installation i WHERE i.state <> 'ACTIVE' OR i.site IS DISTINCT FROM %(site)s)
       AND NOT EXISTS (SELECT FROM punctual_tenant s WHERE s.name = t.tenant AND s.state = 'SUSPENDED') AS may,
       date_part('epoch', clock_timestamp()) AS clock
FROM punctual_batch b
JOIN punctual_task t ON t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
WHERE b.batch_no = %(batch_no)s AND b.finished_at IS NULL
