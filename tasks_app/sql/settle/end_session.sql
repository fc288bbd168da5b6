-- end_session: end the database session of a handler that has timed out, and wait until it has ended, so that its locks and
-- its unfinished work are gone as well.
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE pid = %(pid)s AND usename = current_user AND datname = current_database()
