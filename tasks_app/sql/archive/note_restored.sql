-- note_restored: the rows of this file come into the partition, in this transaction; no row if they have come already, or
-- somebody else goes on with it.
UPDATE punctual_leaving SET restored = restored || ARRAY[%(file)s::text]
WHERE name = %(name)s AND fence = %(fence)s AND NOT %(file)s::text = ANY (restored)
RETURNING name
