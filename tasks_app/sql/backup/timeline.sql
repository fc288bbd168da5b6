-- timeline: the one that the server writes its log on now; only a primary can say it.
SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)
