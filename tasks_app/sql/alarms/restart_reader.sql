-- restart_reader: this is another server than last time, restored from a copy: transactions are numbered anew, and the
-- numbers of the events that came along mean nothing here. The alarms go on with what happens from now on.
UPDATE punctual_alarm_reader r
SET cluster = c.system_identifier, before = pg_current_snapshot()::text, after = NULL, xid = 0, row = 0,
    floor_id = coalesce((SELECT max(id) FROM punctual_outbox), 0), read_at = clock_timestamp()
FROM pg_control_system() c
