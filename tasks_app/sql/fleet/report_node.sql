-- report_node: this process is alive.
INSERT INTO punctual_node (node_id, kind, name, slots, lanes)
VALUES (%(node_id)s, %(kind)s, %(name)s, %(slots)s, %(lanes)s)
ON CONFLICT (node_id) DO UPDATE
SET seen_at = clock_timestamp(), slots = excluded.slots, lanes = excluded.lanes
