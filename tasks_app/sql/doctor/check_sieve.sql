-- check_sieve: what a partition holds is in its sieve; else nobody who looks for it would look there.
SELECT t.id, t.biz_key
FROM (
    SELECT tableoid::bigint AS part, * FROM punctual_past
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
JOIN punctual_sieve s ON s.oid = t.part AND s.ready
WHERE EXISTS (
    SELECT FROM unnest(ARRAY[punctual_unit_mark(t.tenant, t.task_type, t.biz_key),
                             punctual_idem_mark(t.tenant, t.idem_key)]) AS one(mark)
    WHERE mark IS NOT NULL
      AND NOT EXISTS (SELECT FROM punctual_sieve_part b
                      WHERE b.sieve = s.id AND b.bucket = punctual_bucket(mark, s.buckets)
                        AND punctual_print(mark) = ANY (b.prints))
      AND NOT EXISTS (SELECT FROM punctual_sieve_late l WHERE l.mark = one.mark AND l.sieve = s.id)
)
