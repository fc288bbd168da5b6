-- status_archive: the partitions that could not be archived when they were tried last, since when, and why the oldest; and
-- whether somebody is writing one.
SELECT count(*) FILTER (WHERE error <> ''),
       extract(epoch FROM clock_timestamp() - min(waiting_since) FILTER (WHERE error <> ''))::float8,
       (array_agg(error ORDER BY waiting_since) FILTER (WHERE error <> ''))[1],
       coalesce(bool_or(held_until > clock_timestamp()), FALSE)
FROM punctual_leaving WHERE to_regclass(name)::oid::bigint = oid
