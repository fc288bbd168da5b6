-- mend_place: of a task that lies in two places, what is live counts; of two copies in the past, the newer.
DELETE FROM punctual_past p
WHERE p.id = ANY (%(ids)s::bigint[])
  AND (EXISTS (SELECT FROM punctual_task t WHERE t.id = p.id)
       OR EXISTS (SELECT FROM punctual_past n WHERE n.id = p.id AND (n.updated_at, n.retention) > (p.updated_at, p.retention)))
RETURNING p.id
