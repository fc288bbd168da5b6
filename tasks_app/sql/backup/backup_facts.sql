-- backup_facts: which server this is, and what a backup of it has to know. The size is for progress alone: databases that
-- this user may not enter, and can't be asked for theirs, are left out.
SELECT (SELECT system_identifier FROM pg_control_system()), current_setting('server_version_num')::int,
       pg_size_bytes(current_setting('wal_segment_size'))::int8, current_setting('wal_block_size')::int8,
       coalesce((SELECT sum(pg_database_size(oid)) FROM pg_database WHERE has_database_privilege(oid, 'CONNECT')), 0)::int8,
       pg_is_in_recovery(), session_user::text, current_database()::text
