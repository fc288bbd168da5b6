-- advance_pulse: the batches up to this moment were read. The caller holds the row's lock.
UPDATE punctual_pulse_reader
SET read_until = to_timestamp(%(until)s), served_since = %(served)s::jsonb,
    sampled_at = CASE WHEN %(sampled)s::bool THEN clock_timestamp() ELSE sampled_at END
WHERE id = 1
