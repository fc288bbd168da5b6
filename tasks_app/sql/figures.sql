UPDATE task_batch
SET ok = ok + (SELECT count(*) FROM moved WHERE outcome = 'ok'),
    failed = failed + (SELECT count(*) FROM moved WHERE outcome = 'failed'),
    finished_at = CASE WHEN %(finish)s THEN clock_timestamp() END,
    run_us = %(run_us)s, lateness = %(lateness)s
FROM b
WHERE task_batch.batch_no = b.batch_no
RETURNING (SELECT count(*) FROM moved)
