-- note_released: what a step made due, and the lanes that it came from, are kept until it is known what became of it.
UPDATE punctual_campaign_chunk
SET released = released || %(ids)s::bigint[], lanes = lanes || %(lanes)s::text[],
    waiting = waiting + cardinality(%(ids)s::bigint[])
WHERE campaign_id = %(campaign)s AND number = %(number)s
RETURNING waiting
