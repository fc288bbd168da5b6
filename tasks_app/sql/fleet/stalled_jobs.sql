-- The first active jobs of a stalled schedule s: those of its cursors, in all shards. Each cursor's are looked up for themselves.
FROM punctual_job_cursor c
CROSS JOIN LATERAL (
    SELECT tenant, name, id FROM punctual_job WHERE cursor = c.id AND status = 'ACTIVE' ORDER BY id LIMIT 3
) AS j
WHERE c.cron = s.item::jsonb ->> 0 AND c.every = (s.item::jsonb ->> 1)::int AND c.phase = (s.item::jsonb ->> 2)::int
  AND c.timezone = s.item::jsonb ->> 3 AND c.dst_gap = s.item::jsonb ->> 4 AND c.dst_repeat = s.item::jsonb ->> 5
  AND c.calendar = (s.item::jsonb ->> 6)::bigint AND c.on_day_off = s.item::jsonb ->> 7
