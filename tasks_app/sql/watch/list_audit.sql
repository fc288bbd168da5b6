-- list_audit: of a stretch of entries, the latest first, those that match; and where the next look goes on, empty at the end.
-- The stretch comes from the index that knows most of what is asked for (see engine/watch/audit_browse.py) and is bounded,
-- so that a filter that matches little costs no more than one that matches much.
-- `orders`: what is a part of an order is left out, if the order has an entry of the same verb, which a campaign has not.
WITH stretch AS MATERIALIZED (
    SELECT id, created_at, tenant, task_type, task_id, verb, actor, subject, reason,
           coalesce(%(verb)s::text IS NULL AND detail ? 'of' OR starts_with(detail ->> 'of', 'order '), FALSE) AS is_part,
           row_number() OVER (ORDER BY created_at DESC, id DESC) AS place
    FROM (
--rows
    ) AS entry
    ORDER BY created_at DESC, id DESC LIMIT %(stretch)s
), found AS MATERIALIZED (
    SELECT id, place FROM stretch
    WHERE (%(tenant)s::text IS NULL OR tenant = %(tenant)s OR (%(shared)s::bool AND tenant IS NULL))
      AND (%(types)s::text[] IS NULL OR task_type = ANY (%(types)s::text[]))
      AND (%(task_id)s::bigint IS NULL OR task_id = %(task_id)s)
      AND (%(subject)s::text IS NULL OR subject = %(subject)s)
      AND (%(verb)s::text IS NULL OR verb = %(verb)s)
      AND (%(actor)s::text IS NULL OR actor = %(actor)s)
      AND (%(reason)s::text IS NULL OR strpos(lower(reason), lower(%(reason)s)) > 0)
      AND NOT (%(orders)s::bool AND is_part)
      AND verb <> ALL (%(hidden)s::text[])
    ORDER BY place LIMIT %(size)s
)
SELECT (SELECT array_agg(id ORDER BY place) FROM found), (SELECT count(*) FROM stretch),
       CASE WHEN (SELECT count(*) FROM found) = %(size)s THEN (SELECT id FROM found ORDER BY place DESC LIMIT 1)
            WHEN (SELECT count(*) FROM stretch) = %(stretch)s THEN (SELECT id FROM stretch ORDER BY place DESC LIMIT 1) END
