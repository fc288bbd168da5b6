-- report_node: this process is alive.
INSERT INTO punctual_node (node_id, kind, name, site, slots, lanes, figures, keys)
VALUES (%(node_id)s, %(kind)s, %(name)s, %(site)s, %(slots)s, %(lanes)s, %(figures)s::jsonb - 'keys', %(figures)s::jsonb -> 'keys')
ON CONFLICT (node_id) DO UPDATE
SET seen_at = clock_timestamp(), slots = excluded.slots, lanes = excluded.lanes, figures = excluded.figures, keys = excluded.keys
