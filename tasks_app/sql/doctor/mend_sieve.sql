-- mend_sieve: the sieves of the partitions that these are in go; the beats make them anew, and until then nobody needs them.
WITH gone AS (
    DELETE FROM punctual_sieve s
    WHERE s.oid IN (SELECT p.tableoid::bigint FROM punctual_past p WHERE p.id = ANY (%(ids)s::bigint[]))
    RETURNING s.oid
)
SELECT p.id FROM punctual_past p WHERE p.id = ANY (%(ids)s::bigint[]) AND p.tableoid::bigint IN (SELECT oid FROM gone)
