-- events_of_tasks: what the outbox tells of some tasks, within a time. No index knows the tasks of a row, since everybody who
-- writes one would pay for it: all that was told in that time is looked at, so this is for a person who has asked for it.
SELECT
--include outbox_columns
FROM punctual_outbox o
WHERE o.created_at >= %(since)s AND o.created_at <= %(until)s AND o.event = ANY (%(kinds)s::text[])
  AND (o.task_ids && %(tasks)s::bigint[] OR o.task_id = ANY (%(tasks)s::bigint[]))
ORDER BY o.id
