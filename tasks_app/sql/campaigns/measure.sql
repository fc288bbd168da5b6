-- measure: what became of the tasks that a campaign released, for the chunks that were looked at longest ago.
-- What is over is counted and looked at no more, and gets back the lane that it came from: a rolling task would stay in
-- the campaign's lane for ever, and so would whatever takes over from it.
WITH open AS MATERIALIZED (
    SELECT c.id, c.released, c.lanes, k.created_at, k.options ->> 'lane' AS lane
    FROM punctual_campaign_chunk c JOIN punctual_campaign k ON k.id = c.campaign_id
    WHERE c.campaign_id = %(campaign)s AND c.waiting > 0
    ORDER BY c.measured_at NULLS FIRST
    LIMIT %(chunks)s
    FOR UPDATE OF c
), seen AS MATERIALIZED (
    SELECT open.id AS chunk, open.lane AS put_in, one.id, one.lane, one.place, t.live,
           CASE WHEN t.status IS NULL THEN 'otherwise'
                WHEN t.status = 'SUCCESS' THEN 'succeeded'
                WHEN t.status = 'DEAD' THEN 'died'
                WHEN t.status = 'CANCELLED' THEN 'otherwise'
                ELSE 'waiting' END AS became
    FROM open
    CROSS JOIN LATERAL unnest(open.released, open.lanes) WITH ORDINALITY AS one(id, lane, place)
    LEFT JOIN LATERAL (
        SELECT status, TRUE AS live FROM punctual_task WHERE id = one.id
        UNION ALL
        SELECT status, FALSE FROM punctual_past WHERE id = one.id AND updated_at >= open.created_at
        LIMIT 1
    ) AS t ON TRUE
), astray AS MATERIALIZED (
    SELECT t.id, seen.lane, seen.put_in
    FROM seen JOIN punctual_task t ON t.id = seen.id
    WHERE seen.live AND seen.became <> 'waiting' AND seen.lane <> seen.put_in
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
), put_back AS (
    UPDATE punctual_task t SET lane = astray.lane
    FROM astray
    WHERE t.id = astray.id AND t.lane = astray.put_in
), kept AS (
    UPDATE punctual_campaign_chunk c
    SET released = coalesce(still.ids, '{}'), lanes = coalesce(still.lanes, '{}'),
        waiting = coalesce(cardinality(still.ids), 0), measured_at = clock_timestamp()
    FROM open LEFT JOIN (
        SELECT chunk, array_agg(id ORDER BY place) AS ids, array_agg(lane ORDER BY place) AS lanes
        FROM seen WHERE became = 'waiting' GROUP BY chunk
    ) AS still ON still.chunk = open.id
    WHERE c.id = open.id
), counted AS (
    SELECT count(*) FILTER (WHERE became = 'succeeded') AS succeeded, count(*) FILTER (WHERE became = 'died') AS died,
           count(*) FILTER (WHERE became = 'otherwise') AS otherwise
    FROM seen
)
-- Often at first, and less often the longer it takes: a task may be tried again for days. Of one that waits for some of them
-- to be over, more often still.
UPDATE punctual_campaign k
SET succeeded = k.succeeded + counted.succeeded, died = k.died + counted.died, otherwise = k.otherwise + counted.otherwise,
    waiting = k.waiting - counted.succeeded - counted.died - counted.otherwise,
    measure_at = CASE WHEN k.waiting > counted.succeeded + counted.died + counted.otherwise
                      THEN clock_timestamp() + greatest(
                               make_interval(secs => CASE WHEN k.most_running IS NOT NULL AND k.state = 'RUNNING'
                                                          THEN %(soon)s::float8 ELSE %(every)s::float8 END),
                               (clock_timestamp() - k.finished_at) / 30) END
FROM counted
WHERE k.id = %(campaign)s
RETURNING k.waiting
