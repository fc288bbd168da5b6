-- flushed: the moment and the position of the log, as note_places returns them: a place that has the log up to there has all
-- that was committed before. And how far the log is written: what was committed without waiting for a disk is in that.
SELECT clock_timestamp(), pg_current_wal_flush_lsn()::text, pg_current_wal_insert_lsn()::text
