-- prune_runs: runs of graphs that were made long ago and of which nothing is live any more, in a small step. Their tasks go the
-- way of all tasks. One that has not begun yet, or waits for somebody to act, is kept however old it is. One that is being run
-- again is left alone, and so is one that was lately: of its tasks a step may know only what they were before.
DELETE FROM punctual_run WHERE id = ANY (ARRAY(
    SELECT r.id FROM punctual_run r
    WHERE r.created_at < now() - make_interval(secs => %(keep)s)
      AND (r.rerun_at IS NULL OR r.rerun_at < now() - make_interval(secs => %(keep)s))
      AND NOT EXISTS (
          SELECT FROM jsonb_array_elements(r.nodes) AS node
          CROSS JOIN LATERAL (
              SELECT FROM punctual_task t
              WHERE t.biz_key = (node ->> 0) || ':' || r.label AND t.job = (node ->> 0)::bigint AND t.current AND
--include live
              LIMIT 1
          ) AS live)
    ORDER BY r.created_at LIMIT %(step)s
    FOR UPDATE SKIP LOCKED
)) RETURNING id
