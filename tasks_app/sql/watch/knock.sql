-- knock: a small question to the database, and its answer is worth something, too: the share of the connections that are
-- in use, of those that the server, this database and this role may have; the largest of the three.
-- Of other people's sessions a role without rights sees whose they are, and not of what kind.
WITH session AS MATERIALIZED (
    SELECT datid, usesysid FROM pg_stat_activity
    WHERE datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
)
SELECT greatest(
           (SELECT count(*) FROM session)::float8
               / greatest(1, current_setting('max_connections')::int
                             - current_setting('superuser_reserved_connections')::int
                             - coalesce(current_setting('reserved_connections', TRUE), '0')::int),
           (SELECT count(*) FROM session s WHERE s.datid = d.oid)::float8 / nullif(greatest(d.datconnlimit, 0), 0),
           (SELECT count(*) FROM session s WHERE s.usesysid = r.oid)::float8 / nullif(greatest(r.rolconnlimit, 0), 0))
FROM pg_database d, pg_roles r
WHERE d.datname = current_database() AND r.rolname = session_user
