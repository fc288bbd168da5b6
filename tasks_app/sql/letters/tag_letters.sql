-- tag_letters: open letters get and lose tags, which stay in the order in which they came.
-- What has too many by then is left as it was, and not in the answer.
WITH mine AS MATERIALIZED (
    SELECT d.id, ARRAY(
        SELECT tag FROM unnest(d.tags || %(add)s::text[]) WITH ORDINALITY AS one(tag, place)
        WHERE tag <> ALL (%(remove)s::text[])
        GROUP BY tag ORDER BY min(place)) AS tags
    FROM punctual_dead_letter d
    WHERE d.id = ANY (%(ids)s::bigint[]) AND d.replay_status = 'OPEN'
    ORDER BY d.id
    FOR NO KEY UPDATE
)
UPDATE punctual_dead_letter d
SET tags = mine.tags
FROM mine
WHERE d.id = mine.id AND d.replay_status = 'OPEN' AND cardinality(mine.tags) <= %(most)s
RETURNING d.id, d.tags, d.tenant, d.task_type, d.task_id
