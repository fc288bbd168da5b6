-- A row that was changed after this statement began, and is ours all the same, is locked but not seen where it lies now:
-- then the batch stays open, and the caller settles the rest with a statement that sees it.
UPDATE punctual_batch
SET ok = ok + CASE WHEN %(counts_as)s = 'ok' THEN tally.tasks ELSE 0 END,
    failed = failed + CASE WHEN %(counts_as)s = 'failed' THEN tally.tasks ELSE 0 END,
    finished_at = CASE WHEN %(finish)s AND tally.tasks = tally.mine THEN clock_timestamp() END,
    run_us = %(run_us)s, lateness = %(lateness)s
FROM b, (SELECT (SELECT count(*) FROM moved) AS tasks, (SELECT count(*) FROM mine) AS mine) AS tally
WHERE punctual_batch.batch_no = b.batch_no
RETURNING tally.tasks, tally.mine
