-- count_open: the batches that are not finished, by lane and type: how many wait for a worker and how many run, the tasks in
-- them, since when the oldest of each does, and since when a lease has run out. Bounded by what is claimed at all.
SELECT lane, task_type,
       count(*) FILTER (WHERE started_at IS NULL), count(*) FILTER (WHERE started_at IS NOT NULL),
       coalesce(sum(cardinality(ids)) FILTER (WHERE started_at IS NULL), 0)::float8,
       coalesce(sum(cardinality(ids) - ok - failed) FILTER (WHERE started_at IS NOT NULL), 0)::float8,
       coalesce(extract(epoch FROM clock_timestamp() - min(claimed_at) FILTER (WHERE started_at IS NULL)), 0)::float8,
       coalesce(extract(epoch FROM clock_timestamp() - min(started_at)), 0)::float8,
       greatest(extract(epoch FROM clock_timestamp() - min(lease_until)), 0)::float8
FROM punctual_batch
WHERE finished_at IS NULL AND task_type <> %(canary)s
GROUP BY lane, task_type
