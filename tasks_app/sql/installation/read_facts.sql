-- read_facts: what this server says about itself, for a comparison with what is noted in the row.
-- The address is the server's own, whatever pooler or name leads to it. The directory is seen by superusers and members of
-- pg_read_all_settings alone, and others need not ask. (The view pg_settings would answer them, too, in a millisecond or
-- two: many workers ask this every few seconds.)
SELECT (SELECT system_identifier FROM pg_control_system()),
       (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),
       CASE WHEN NOT pg_is_in_recovery()
            THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int END,
       CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') ELSE '' END,
       current_setting('cluster_name'),
       coalesce(host(inet_server_addr()), ''), pg_is_in_recovery()
