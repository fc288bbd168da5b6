-- event_row: one row of the outbox, with all that it carries. It is looked up in each partition, since an id says nothing of its time.
SELECT
--include outbox_columns
FROM punctual_outbox o
WHERE o.id = %(id)s
