-- reached: how far a recovery came: its last transaction, the timeline, and a number that no task before it exceeds. A
-- sequence is written to the log 32 values ahead.
SELECT pg_last_xact_replay_timestamp(), (SELECT timeline_id FROM pg_control_checkpoint()), clock_timestamp(),
       coalesce(pg_sequence_last_value(pg_get_serial_sequence('punctual_task', 'id')::regclass), 0) - 33
