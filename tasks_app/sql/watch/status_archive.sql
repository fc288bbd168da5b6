-- status_archive: the partitions that could not be archived when they were tried last, since when, and why the oldest.
SELECT count(*), extract(epoch FROM clock_timestamp() - min(waiting_since))::float8,
       (array_agg(error ORDER BY waiting_since))[1]
FROM punctual_leaving WHERE error <> '' AND to_regclass(name)::oid::bigint = oid
