-- The end of what batches_of_due begins: the batches themselves.
)
-- Its tasks are not late before the moment at which their lane was resumed; empty if that is not later than when they were due.
INSERT INTO punctual_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, allowed_at)
SELECT batch_no, task_type, lane, ids, %(dispatcher)s, clock_timestamp(),
       clock_timestamp() + %(lease)s * interval '1 s',
       (SELECT resumed_at FROM punctual_lane_resume r WHERE r.lane = batch.lane AND resumed_at > first_due)
FROM batch
WHERE (SELECT set_config('synchronous_commit', 'off', TRUE)) = 'off'
RETURNING batch_no::text, lane, task_type, cardinality(ids)
