-- begin_reader: the alarms read what happens from now on.
INSERT INTO punctual_alarm_reader (id, cluster, after_event, xid)
SELECT 1, c.system_identifier, 0, pg_snapshot_xmin(pg_current_snapshot())::text::bigint FROM pg_control_system() c
ON CONFLICT DO NOTHING
