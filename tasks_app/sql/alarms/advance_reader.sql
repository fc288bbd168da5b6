-- advance_reader: everything up to here has been looked at.
UPDATE punctual_alarm_reader SET xid = %(xid)s, row = %(row)s, read_at = clock_timestamp()
