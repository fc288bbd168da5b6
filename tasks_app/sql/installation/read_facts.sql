-- read_facts: what this server says about itself, for a comparison with what is noted in the row.
-- The address is the server's own, whatever pooler or name leads to it. The directory is seen by superusers and members of
-- pg_read_all_settings alone; it has no row for others, and that is no error.
SELECT (SELECT system_identifier FROM pg_control_system()),
       (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),
       CASE WHEN NOT pg_is_in_recovery()
            THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int END,
       coalesce((SELECT setting FROM pg_settings WHERE name = 'data_directory'), ''),
       current_setting('cluster_name'),
       coalesce(host(inet_server_addr()), '')
