-- mend_sieve: the sieves of the partitions that these are in count no more; the beats make them anew.
WITH void AS (
    UPDATE punctual_sieve s SET ready = FALSE, begun_at = '-infinity'
    WHERE s.oid IN (SELECT p.tableoid::bigint FROM punctual_past p WHERE p.id = ANY (%(ids)s::bigint[]))
    RETURNING s.oid
)
SELECT p.id FROM punctual_past p WHERE p.id = ANY (%(ids)s::bigint[]) AND p.tableoid::bigint IN (SELECT oid FROM void)
