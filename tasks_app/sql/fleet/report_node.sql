-- report_node: this process is alive; and whether somebody has drained it. A worker that is drained has no slots, whatever it says of
-- itself: nobody should claim for it. If its row is gone, since it was silent for long, it brings along what it knew.
INSERT INTO punctual_node (node_id, kind, name, site, slots, lanes, version, figures, keys, drained_at, drained_by, drain_reason)
VALUES (%(node_id)s, %(kind)s, %(name)s, %(site)s, %(slots)s, %(lanes)s, coalesce(%(figures)s::jsonb ->> 'version', ''),
        %(figures)s::jsonb - '{keys,version}'::text[], %(figures)s::jsonb -> 'keys', %(drained_at)s, %(drained_by)s, %(drain_reason)s)
ON CONFLICT (node_id) DO UPDATE
SET seen_at = clock_timestamp(), slots = CASE WHEN punctual_node.drained_at IS NULL THEN excluded.slots ELSE 0 END,
    lanes = excluded.lanes, version = excluded.version, figures = excluded.figures, keys = excluded.keys
RETURNING drained_at, drained_by, drain_reason
