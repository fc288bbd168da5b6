-- note_deliveries: what receivers have answered; of each subscription the last ones are kept.
WITH added AS (
    INSERT INTO punctual_delivery (subscription_id, ok, status, ms, count, event_ids, answer)
    SELECT %(id)s::bigint, given.ok, given.status, given.ms, given.count, given.event_ids, given.answer
    FROM jsonb_to_recordset(%(attempts)s::jsonb)
         AS given(ok boolean, status text, ms float8, count int, event_ids text[], answer text)
), old AS (
    SELECT id FROM punctual_delivery WHERE subscription_id = %(id)s::bigint ORDER BY id DESC
    OFFSET greatest(0, %(keep)s::int - jsonb_array_length(%(attempts)s::jsonb)) LIMIT 1
)
DELETE FROM punctual_delivery WHERE subscription_id = %(id)s::bigint AND id <= (SELECT id FROM old)
