-- standby_lag: how far the servers that follow this one are behind, the furthest first; who receives the log for a backup is
-- none of them. A role without pg_read_all_stats finds that they are there, and nothing else about them. For one that has all
-- there is, PostgreSQL knows no time after a while: then it is 0.
SELECT coalesce(nullif(application_name, ''), 'pid ' || pid), coalesce(host(client_addr), ''), state, sync_state,
       CASE WHEN behind.bytes <= 0 THEN 0 ELSE extract(epoch FROM replay_lag)::float8 END, greatest(behind.bytes, 0)
FROM pg_stat_replication
CROSS JOIN LATERAL (
    SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint END AS bytes
) AS behind
WHERE coalesce(application_name, '') NOT IN ('pg_receivewal', 'pg_basebackup', 'barman_receive_wal', 'punctual_backup')
ORDER BY behind.bytes DESC NULLS LAST
LIMIT %(most)s
