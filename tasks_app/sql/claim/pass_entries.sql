-- pass_entries: move the low-water marks of these shards. No waiting task has an entry before the mark, and none ever will,
-- so scans start there, regardless of how many entries of finished tasks are left.
-- Only an INSERT makes an entry, and the entry is later than the clock was when the transaction got its number
-- (writers_clock). Once all transactions with a number before the mark have ended, no transaction can make an earlier
-- entry. The entries that exist are read here, from where the last scan ended. The new mark is the time before this
-- statement got its own number. (The end of a snapshot is not enough: larger numbers may already be assigned.)
-- Tasks that wait again use another index. A crash that undoes a claim also undoes this statement, which commits later.
-- If the clock was set back since the last time, or transaction numbers start again, everything starts again.
WITH here AS MATERIALIZED (
    SELECT now() AS at, pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
           pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next, pg_current_xact_id()::text::bigint AS own
), known AS MATERIALIZED (
    SELECT s.shard, p.mark_at, p.mark_xid, p.passed,
           CASE WHEN p.shard IS NULL OR p.noted_at > here.at OR p.mark_xid > here.next THEN 'anew'
                WHEN p.mark_xid <= here.oldest THEN 'ripe' ELSE 'waits' END AS mark
    FROM here, unnest(%(shards)s::smallint[]) AS s(shard)
    LEFT JOIN punctual_timetable p ON p.shard = s.shard
), looked AS (
    SELECT k.shard, jsonb_object_agg(l.lane, least(k.mark_at, first.entry_at)) AS passed
    FROM known k
    CROSS JOIN unnest(%(lanes)s::text[]) AS l(lane)
    LEFT JOIN LATERAL (
        SELECT t.entry_at
        FROM punctual_task t
        WHERE t.shard = k.shard AND t.lane = l.lane
          AND t.entry_at >= coalesce((k.passed ->> l.lane)::timestamptz, '-infinity') AND t.entry_at < k.mark_at
          AND t.due_at IS NOT NULL AND t.wait_at IS NULL
        ORDER BY t.entry_at
        LIMIT 1
    ) AS first ON TRUE
    WHERE k.mark = 'ripe'
    GROUP BY k.shard
)
INSERT INTO punctual_timetable AS p (shard, passed, noted_at, mark_at, mark_xid)
SELECT k.shard, coalesce(looked.passed, CASE k.mark WHEN 'waits' THEN k.passed END, '{}'), here.at,
       CASE k.mark WHEN 'waits' THEN k.mark_at ELSE here.at END, CASE k.mark WHEN 'waits' THEN k.mark_xid ELSE here.own END
FROM here, known k LEFT JOIN looked ON looked.shard = k.shard
ORDER BY k.shard
ON CONFLICT (shard) DO UPDATE
SET passed = excluded.passed, noted_at = excluded.noted_at, mark_at = excluded.mark_at, mark_xid = excluded.mark_xid
RETURNING date_part('epoch', p.noted_at)
