-- prune_runs: runs of graphs that were made long ago, in a small step. Their tasks go the way of all tasks.
DELETE FROM punctual_run WHERE id = ANY (ARRAY(
    SELECT id FROM punctual_run WHERE created_at < now() - make_interval(secs => %(keep)s)
    ORDER BY created_at LIMIT %(step)s
)) RETURNING id
