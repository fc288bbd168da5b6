-- release_permits: the calls of a batch are over; others may have its places before it is finished.
DELETE FROM punctual_host_permit
WHERE host = ANY (%(hosts)s::text[]) AND batch_no = %(batch_no)s
