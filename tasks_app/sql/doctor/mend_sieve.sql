-- mend_sieve: the sieves of the partitions that these are in go; the beats make them anew, and until then nobody needs them.
WITH gone AS (
    DELETE FROM punctual_sieve s
    WHERE s.oid IN (SELECT p.tableoid::bigint FROM punctual_past p WHERE p.id = ANY (%(ids)s::bigint[]))
    RETURNING s.id
)
SELECT p.id
FROM punctual_past p
LEFT JOIN punctual_sieve s ON s.oid = p.tableoid::bigint
WHERE p.id = ANY (%(ids)s::bigint[]) AND (s.id IS NULL OR s.id IN (SELECT id FROM gone))
