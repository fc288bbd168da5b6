-- end_session: end the database session of a handler that ran over its time, and wait until it is gone,
-- so that its locks and its half-done work are gone too.
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE pid = %(pid)s AND usename = current_user AND datname = current_database()
