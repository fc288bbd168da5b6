-- acted_on: a subject of these that the operation has dealt with already, if there is one.
SELECT subject FROM punctual_audit_entry
WHERE operation = %(operation)s AND subject = ANY (%(subjects)s::text[])
LIMIT 1
