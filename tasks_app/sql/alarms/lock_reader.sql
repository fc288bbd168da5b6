-- lock_reader: how far the alarms have read, and what there is to read now; by one beat at a time.
-- SKIP LOCKED: another beat is reading, and there is nothing to do for this one.
SELECT r.cluster = c.system_identifier AS same, r.floor_id, r.before, coalesce(r.after, pg_current_snapshot()::text), r.xid, r.row
FROM punctual_alarm_reader r, pg_control_system() c
FOR UPDATE OF r SKIP LOCKED
