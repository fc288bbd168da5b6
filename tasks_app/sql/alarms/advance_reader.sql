-- advance_reader: everything up to here has been looked at; `after` is empty if there is no more that it sees.
UPDATE punctual_alarm_reader
SET before = %(before)s, after = %(after)s, xid = %(xid)s, row = %(row)s, read_at = clock_timestamp()
