-- links_between: whether an entry that was written in this time has a place.
SELECT EXISTS (SELECT FROM punctual_audit_link WHERE at >= %(since)s::timestamptz AND at < %(until)s::timestamptz)
