-- flushed: the moment and the position of the log, as note_places returns them: a place that has the log up to there has all
-- that was committed before.
SELECT clock_timestamp(), pg_current_wal_flush_lsn()::text
