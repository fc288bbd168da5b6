-- The part `inserted` of claim, for types with a limit.
)
-- allowed_at: its tasks are not late before their lane was resumed, a slot of their type was free, and the first of them
-- had a permit. Empty if all of these are earlier than the due time.
INSERT INTO punctual_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, allowed_at)
SELECT batch_no, task_type, lane, ids, %(dispatcher)s, clock_timestamp(),
       clock_timestamp() + make_interval(secs => %(lease)s),
       greatest((SELECT r.resumed_at FROM punctual_lane_resume r WHERE r.lane = batch.lane AND r.resumed_at > batch.first_due),
                to_timestamp((bucket ->> 'full_at')::float8),
                CASE WHEN first > (bucket ->> 'permits')::float8
                     THEN to_timestamp((bucket ->> 'filled_at')::float8
                                       + (first - (bucket ->> 'permits')::float8) / (bucket ->> 'rate')::float8) END)
FROM (SELECT *, %(limits)s::jsonb -> task_type AS bucket FROM batch) AS batch
WHERE (SELECT set_config('synchronous_commit', 'off', TRUE)) = 'off'
RETURNING batch_no::text, lane, task_type, cardinality(ids)
