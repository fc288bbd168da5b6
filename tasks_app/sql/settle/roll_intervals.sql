-- roll_intervals: the start of a batch, and the different intervals by which its tasks roll. Run this after they are
-- locked.
SELECT DISTINCT b.started_at, t.repeat_after
FROM punctual_batch b JOIN punctual_task t ON t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
WHERE b.batch_no = %(batch_no)s AND t.repeat_after IS NOT NULL
