-- lock_reader: how far the alarms have read, and up to which transaction everything is over; by one beat at a time.
-- SKIP LOCKED: another beat is reading, and there is nothing to do for this one.
SELECT r.cluster = c.system_identifier AS same, r.after_event, r.xid, r.row,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon
FROM punctual_alarm_reader r, pg_control_system() c
FOR UPDATE OF r SKIP LOCKED
