-- forget_away: of these tasks, those that are no longer away.
DELETE FROM punctual_away a
WHERE a.task = ANY (%(ids)s::bigint[])
  AND NOT EXISTS (SELECT FROM punctual_task t WHERE t.id = a.task AND t.status = 'AWAY')
