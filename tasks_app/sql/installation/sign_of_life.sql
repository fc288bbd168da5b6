-- A beat that may dispatch gives a sign of life, at most once a second, and notes who streams from here. Nobody waits for it
-- (SKIP LOCKED). Who receives the log for a backup is no standby, and is never promoted. A standby that has not been seen for
-- so long that it does not count any more is forgotten. A beat of a site that is not the active one any more gives none; who
-- names no site is of any.
well AS MATERIALIZED (
    SELECT id FROM punctual_installation WHERE id = 1 AND state <> 'QUARANTINED' AND facts IS NOT NULL
      AND site IS NOT DISTINCT FROM coalesce(%(site)s::text, site)
), sign AS MATERIALIZED (
    SELECT s.kind, s.address FROM punctual_sign s
    WHERE s.kind = 'beat' AND s.address = '' AND EXISTS (SELECT FROM well)
      AND s.at NOT BETWEEN clock_timestamp() - interval '1 s' AND clock_timestamp()
    FOR NO KEY UPDATE SKIP LOCKED
), given_again AS (
    UPDATE punctual_sign s SET at = clock_timestamp()
    FROM sign WHERE s.kind = sign.kind AND s.address = sign.address
    RETURNING s.at
), given_first AS (
    INSERT INTO punctual_sign (kind, address, at) SELECT 'beat', '', clock_timestamp() FROM well
    WHERE NOT EXISTS (SELECT FROM punctual_sign WHERE kind = 'beat')
    ON CONFLICT (kind, address) DO NOTHING
    RETURNING at
), given AS MATERIALIZED (
    SELECT at FROM given_again UNION ALL SELECT at FROM given_first
), streaming AS MATERIALIZED (
    SELECT DISTINCT CASE WHEN client_port = -1 THEN '' ELSE host(client_addr) END AS address
    FROM pg_stat_replication
    WHERE EXISTS (SELECT FROM given) AND state = 'streaming' AND (client_addr IS NOT NULL OR client_port = -1)
      AND application_name NOT IN ('pg_receivewal', 'pg_basebackup', 'barman_receive_wal', 'punctual_backup')
), standbys_noted AS (
    INSERT INTO punctual_sign (kind, address, at) SELECT 'standby', address, clock_timestamp() FROM streaming
    ON CONFLICT (kind, address) DO UPDATE SET at = excluded.at
), standbys_forgotten AS (
    DELETE FROM punctual_sign s
    WHERE EXISTS (SELECT FROM given) AND s.kind = 'standby' AND s.at < clock_timestamp() - make_interval(secs => %(forget)s)
      AND s.address NOT IN (SELECT address FROM streaming)
)
