-- prune_nodes: processes that were killed and never came back to say so.
DELETE FROM punctual_node WHERE seen_at < now() - make_interval(secs => %(keep)s) RETURNING 1
