-- lock_pulse: how far the batches were read, locked until what follows from them is written. Nobody waits: whoever finds it
-- locked leaves the safeguards to the beat that has it.
SELECT date_part('epoch', read_until), served_since, date_part('epoch', sampled_at), date_part('epoch', clock_timestamp())
FROM punctual_pulse_reader
WHERE id = 1
FOR UPDATE SKIP LOCKED
