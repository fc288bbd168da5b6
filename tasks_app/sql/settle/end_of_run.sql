-- The times of the run that ends here. A task that no handler has begun, or that only waited, has no start time, and
-- neither has one that a worker held before its due time.
        start_time = CASE WHEN t.status = 'RUNNING' AND t.claimed_due <= clock_timestamp()
                          THEN (SELECT greatest(r.started_at, t.claimed_due) FROM punctual_batch r
                                WHERE r.batch_no = t.batch_no AND r.started_at IS NOT NULL)
                          WHEN t.status = 'AWAY' THEN t.start_time END,
        ran_in = coalesce(t.batch_no, t.ran_in), finish_time = clock_timestamp()
