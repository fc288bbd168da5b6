-- curb_room: of each of these curbs, which the caller has locked, how many more tasks may begin now. Places belong to a batch until that
-- is finished, so what has gone away holds none.
WITH gone AS (
    DELETE FROM punctual_curb_permit p
    WHERE p.curb = ANY (%(curbs)s::bigint[])
      AND NOT EXISTS (SELECT FROM punctual_batch b WHERE b.batch_no = p.batch_no AND b.finished_at IS NULL)
)
SELECT c.id, c.kind, c.target, c.of_tenant, c.rate,
       c.max_running - (SELECT coalesce(sum(p.tasks), 0) FROM punctual_curb_permit p
                        JOIN punctual_batch b ON b.batch_no = p.batch_no AND b.finished_at IS NULL
                        WHERE p.curb = c.id AND p.batch_no <> %(batch_no)s)::int,
       least(greatest(c.rate, 1), c.permits + c.rate * greatest(0, extract(epoch FROM clock_timestamp() - c.filled_at)::float8)),
       greatest(c.waiting, c.returned)
FROM punctual_curb c
WHERE c.id = ANY (%(curbs)s::bigint[])
