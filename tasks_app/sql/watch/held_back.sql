-- held_back: what keeps vacuum from removing dead rows, or the disk from getting free: sessions in a transaction, transactions
-- that were prepared and forgotten, replication slots, and standbys that tell what they still read. The oldest first.
-- A role that may not see others' sessions finds only its own. Of slots, PostgreSQL 17 and newer know since when nobody
-- has used them; else, as of standbys, only the number of transactions since is known.
SELECT kind, name, detail, seconds, transactions, wal
FROM (
    SELECT CASE WHEN starts_with(state, 'idle in transaction') THEN 'idle transaction' ELSE 'transaction' END AS kind,
           'pid ' || pid AS name, concat_ws(', ', usename, nullif(application_name, ''), host(client_addr)) AS detail,
           extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds,
           greatest(age(backend_xmin), age(backend_xid))::bigint AS transactions, NULL::bigint AS wal
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND coalesce(backend_xmin, backend_xid) IS NOT NULL
      AND backend_type NOT IN ('autovacuum worker', 'parallel worker', 'walsender')
    UNION ALL
    SELECT 'prepared transaction', gid, owner, extract(epoch FROM clock_timestamp() - prepared)::float8,
           age(transaction)::bigint, NULL
    FROM pg_prepared_xacts
    WHERE database = current_database()
    UNION ALL
    SELECT 'replication slot', slot_name, concat_ws(', ', slot_type, CASE WHEN NOT active THEN 'not in use' END),
           extract(epoch FROM clock_timestamp() - (to_jsonb(s) ->> 'inactive_since')::timestamptz)::float8,
           greatest(age(xmin), age(catalog_xmin))::bigint,
           CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint END
    FROM pg_replication_slots s
    WHERE coalesce(xmin, catalog_xmin) IS NOT NULL OR (NOT active AND restart_lsn IS NOT NULL)
    UNION ALL
    SELECT 'standby', coalesce(nullif(application_name, ''), 'pid ' || pid), concat_ws(', ', usename, host(client_addr)),
           NULL, age(backend_xmin)::bigint, NULL
    FROM pg_stat_replication
    WHERE backend_xmin IS NOT NULL
) AS one
ORDER BY transactions DESC NULLS LAST, seconds DESC NULLS LAST
LIMIT %(most)s
