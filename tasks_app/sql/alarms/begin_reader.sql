-- begin_reader: the alarms read what happens from now on.
INSERT INTO punctual_alarm_reader (id, cluster, before)
SELECT 1, c.system_identifier, pg_current_snapshot()::text FROM pg_control_system() c
ON CONFLICT DO NOTHING
