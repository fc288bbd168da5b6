-- prune_batches: finished batches past their keep, in a small step.
WITH old AS (
    SELECT batch_no FROM punctual_batch
    WHERE finished_at < now() - make_interval(secs => %(keep)s)
    ORDER BY finished_at LIMIT %(step)s FOR UPDATE SKIP LOCKED
)
DELETE FROM punctual_batch b USING old WHERE b.batch_no = old.batch_no RETURNING 1
