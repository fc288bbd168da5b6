-- read_events: some of what was committed between two snapshots, by transaction; each event is in one such stretch.
-- Ids alone would not do: a transaction that took its id early may commit late, and its events would never be read.
-- A row may be a thousand events: about so many of them are read at a time, and `rows` says how many rows there are.
-- What the first snapshot does not see began after it, or is one of the few that were under way: looked up one by one.
WITH asked AS MATERIALIZED (
    SELECT %(before)s::text::pg_snapshot AS before, %(after)s::text::pg_snapshot AS after
), found AS (
    (SELECT o.xid::text::bigint AS xid,
--include outbox_columns
     FROM punctual_outbox o
     WHERE o.xid >= (SELECT pg_snapshot_xmax(before) FROM asked) AND o.xid < (SELECT pg_snapshot_xmax(after) FROM asked)
       AND o.xid >= %(xid)s::text::xid8 AND (o.xid > %(xid)s::text::xid8 OR o.id > %(row)s) AND o.id > %(floor_id)s
       AND o.event = ANY (%(kinds)s::text[]) AND pg_visible_in_snapshot(o.xid, (SELECT after FROM asked))
     ORDER BY o.xid, o.id
     LIMIT %(most)s)
    UNION ALL
    (SELECT late.* FROM asked CROSS JOIN LATERAL pg_snapshot_xip(asked.before) AS under_way(xid)
     CROSS JOIN LATERAL (
        SELECT o.xid::text::bigint,
--include outbox_columns
        FROM punctual_outbox o
        WHERE o.xid = under_way.xid AND o.id > %(floor_id)s
          AND (o.xid > %(xid)s::text::xid8 OR (o.xid = %(xid)s::text::xid8 AND o.id > %(row)s))
          AND o.event = ANY (%(kinds)s::text[]) AND pg_visible_in_snapshot(o.xid, (SELECT after FROM asked))
        ORDER BY o.id
        LIMIT %(most)s
     ) AS late)
)
SELECT t.*
FROM (
    SELECT f.*, sum(f.count) OVER (ORDER BY f.xid, f.id ROWS UNBOUNDED PRECEDING) AS events, count(*) OVER () AS rows
    FROM (SELECT * FROM found ORDER BY xid, id LIMIT %(most)s) AS f
) AS t
WHERE t.events - t.count < %(events)s
ORDER BY t.xid, t.id
