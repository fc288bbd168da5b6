-- status_horizon: the transaction that has been writing for longest. Its events come when it commits; nobody else's wait.
-- A role that may not see others' sessions finds only its own.
SELECT name, detail, seconds
FROM (
    SELECT 'pid ' || pid AS name, concat_ws(', ', usename, nullif(application_name, ''), host(client_addr)) AS detail,
           extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xid IS NOT NULL
      AND backend_type NOT IN ('autovacuum worker', 'parallel worker', 'walsender')
    UNION ALL
    SELECT 'prepared transaction ' || gid, owner::text, extract(epoch FROM clock_timestamp() - prepared)::float8
    FROM pg_prepared_xacts WHERE database = current_database()
) AS one
ORDER BY seconds DESC NULLS LAST
LIMIT 1
