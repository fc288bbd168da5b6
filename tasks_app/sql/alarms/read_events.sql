-- read_events: some of what happened since the last look, in transactions that are all over, by the number of each.
-- Ids alone would not do: a transaction that took its id early may commit late, and its events would never be read.
-- Below the horizon, the oldest transaction that still runs, nothing is added any more.
SELECT o.xid::text::bigint,
--include outbox_columns
FROM punctual_outbox o
WHERE o.xid >= %(xid)s::text::xid8 AND o.xid < %(horizon)s::text::xid8
  AND (o.xid > %(xid)s::text::xid8 OR o.id > %(row)s) AND o.id > %(after_event)s
  AND o.event = ANY (%(kinds)s::text[])
ORDER BY o.xid, o.id
LIMIT %(most)s
