-- lock_curbs: what safeguards hold back of these tenants' tasks of a type, or of their calls to these hosts. Locked, so that one
-- worker counts at a time; what it counts, it reads in the next statement, whose snapshot has what the one before it took.
SELECT c.id FROM punctual_curb c
WHERE c.of_tenant = ANY (%(tenants)s::text[]) AND c.kind IN ('type', 'retries')
  AND (c.target = ANY (%(targets)s::text[]) OR c.target = '*' AND %(all_types)s)
ORDER BY c.id
FOR UPDATE
