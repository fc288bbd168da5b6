-- storage_database: the size of the whole database, how old its oldest transaction number is and at which age PostgreSQL
-- cleans by force, how many sessions this role may not see, and where the files lie, if it may know.
SELECT current_database()::text, pg_database_size(current_database()), age(d.datfrozenxid)::bigint,
       current_setting('autovacuum_freeze_max_age')::bigint, clock_timestamp(),
       (SELECT count(*) FROM pg_stat_activity a
        WHERE a.datname = current_database() AND a.query = '<insufficient privilege>'),
       (SELECT setting FROM pg_settings WHERE name = 'data_directory')
FROM pg_database d
WHERE d.datname = current_database()
