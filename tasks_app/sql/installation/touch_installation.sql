-- touch_installation: a beat that may dispatch gives a sign of life, at most once a second, and notes who streams from here.
-- Nobody waits for it (SKIP LOCKED). Who receives the log for a backup is no standby, and is never promoted.
WITH mine AS MATERIALIZED (
    SELECT id FROM punctual_installation
    WHERE id = 1 AND state <> 'QUARANTINED' AND facts IS NOT NULL
      AND (seen_at IS NULL OR seen_at NOT BETWEEN clock_timestamp() - interval '1 s' AND clock_timestamp())
    FOR NO KEY UPDATE SKIP LOCKED
), streaming AS (
    SELECT jsonb_object_agg(CASE WHEN client_port = -1 THEN '' ELSE host(client_addr) END,
                            round(date_part('epoch', clock_timestamp()))) AS standbys
    FROM pg_stat_replication
    WHERE state = 'streaming' AND (client_addr IS NOT NULL OR client_port = -1)
      AND application_name NOT IN ('pg_receivewal', 'pg_basebackup', 'barman_receive_wal')
)
UPDATE punctual_installation i
SET seen_at = clock_timestamp(), standbys = i.standbys || coalesce((SELECT standbys FROM streaming), '{}')
FROM mine
WHERE i.id = mine.id
