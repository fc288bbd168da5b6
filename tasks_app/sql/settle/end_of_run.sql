-- The times of the run that ends by this. What nobody had begun, and what only waited, has no start.
        start_time = CASE t.status WHEN 'RUNNING' THEN (SELECT r.started_at FROM punctual_batch r WHERE r.batch_no = t.batch_no)
                                   WHEN 'AWAY' THEN t.start_time END,
        ran_in = coalesce(t.batch_no, t.ran_in), finish_time = clock_timestamp()
