-- take_channels: channels that have alerts waiting and that nobody is sending to, for a while; whoever dies loses them then.
-- In quarantine nobody is told anything.
UPDATE punctual_alarm_channel c
SET held_until = clock_timestamp() + make_interval(secs => %(lease)s), fence = c.fence + 1
WHERE c.id = ANY (ARRAY(
    SELECT free.id FROM punctual_alarm_channel free
    WHERE free.id IN (SELECT a.channel FROM punctual_alarm_alert a WHERE a.done_at IS NULL)
      AND free.enabled AND (free.held_until IS NULL OR free.held_until < clock_timestamp())
      AND (free.next_try_at IS NULL OR free.next_try_at <= clock_timestamp())
      AND NOT EXISTS (SELECT FROM punctual_installation i WHERE i.state <> 'ACTIVE')
    ORDER BY free.next_try_at NULLS FIRST
    LIMIT %(most)s
    FOR UPDATE SKIP LOCKED
))
RETURNING c.id, c.fence
