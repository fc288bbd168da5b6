UPDATE task_batch
SET ok = ok + CASE WHEN %(counts_as)s = 'ok' THEN tally.tasks ELSE 0 END,
    failed = failed + CASE WHEN %(counts_as)s = 'failed' THEN tally.tasks ELSE 0 END,
    finished_at = CASE WHEN %(finish)s THEN clock_timestamp() END,
    run_us = %(run_us)s, lateness = %(lateness)s
FROM b, (SELECT count(*) AS tasks FROM moved) AS tally
WHERE task_batch.batch_no = b.batch_no
RETURNING tally.tasks
