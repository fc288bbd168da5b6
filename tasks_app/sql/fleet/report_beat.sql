-- This beat is alive, and its dispatcher if it says so. Two of its threads report it: neither waits for the other.
here AS MATERIALIZED (
    SELECT node_id FROM node WHERE node_id = %(node_id)s FOR NO KEY UPDATE SKIP LOCKED
), seen_again AS (
    UPDATE node
    SET seen_at = clock_timestamp(),
        renewed_at = CASE WHEN %(dispatching)s THEN clock_timestamp() ELSE node.renewed_at END
    FROM here
    WHERE node.node_id = here.node_id
), seen_first AS (
    INSERT INTO node (node_id, kind, name, renewed_at)
    SELECT %(node_id)s, 'BEAT', %(name)s, CASE WHEN %(dispatching)s THEN clock_timestamp() END
    WHERE NOT EXISTS (SELECT FROM node WHERE node_id = %(node_id)s)
    ON CONFLICT (node_id) DO NOTHING
)
