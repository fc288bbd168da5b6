-- This beat is alive, and its dispatcher if it says so. Two of its threads report it: neither waits for the other.
here AS MATERIALIZED (
    SELECT node_id FROM punctual_node WHERE node_id = %(node_id)s FOR NO KEY UPDATE SKIP LOCKED
), seen_again AS (
    UPDATE punctual_node
    SET seen_at = clock_timestamp(),
        renewed_at = CASE WHEN %(dispatching)s THEN clock_timestamp() ELSE punctual_node.renewed_at END,
        figures = coalesce(%(figures)s::jsonb - '{keys,version}'::text[], punctual_node.figures),
        keys = coalesce(%(figures)s::jsonb -> 'keys', punctual_node.keys),
        version = coalesce(%(figures)s::jsonb ->> 'version', punctual_node.version)
    FROM here
    WHERE punctual_node.node_id = here.node_id
), seen_first AS (
    INSERT INTO punctual_node (node_id, kind, name, site, renewed_at, figures, keys, version)
    SELECT %(node_id)s, 'BEAT', %(name)s, %(site)s, CASE WHEN %(dispatching)s THEN clock_timestamp() END,
           %(figures)s::jsonb - '{keys,version}'::text[], %(figures)s::jsonb -> 'keys', coalesce(%(figures)s::jsonb ->> 'version', '')
    WHERE NOT EXISTS (SELECT FROM punctual_node WHERE node_id = %(node_id)s)
    ON CONFLICT (node_id) DO NOTHING
)
