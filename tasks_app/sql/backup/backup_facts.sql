-- backup_facts: which server this is, and what a backup of it has to know.
SELECT (SELECT system_identifier FROM pg_control_system()), current_setting('server_version_num')::int,
       pg_size_bytes(current_setting('wal_segment_size'))::int8, current_setting('wal_block_size')::int8,
       (SELECT sum(pg_database_size(oid)) FROM pg_database)::int8, pg_is_in_recovery()
