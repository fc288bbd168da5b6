-- ended_batches: those of these batches that have ended here.
SELECT b.batch_no FROM punctual_any_batch b WHERE b.batch_no = ANY (%(numbers)s::uuid[]) AND b.finished_at IS NOT NULL
