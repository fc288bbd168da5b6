-- stray_ahead: the first among the next ids that move_strays would move, and where the stretch of them ended. There is hardly
-- ever one, and so many ids can be looked at in one go as could never be moved in one.
WITH stretch AS MATERIALIZED (
    SELECT id FROM punctual_task WHERE id > %(after)s ORDER BY id LIMIT %(step)s
)
SELECT (SELECT max(id) FROM stretch), (
    SELECT t.id FROM punctual_task t
    WHERE t.id > %(after)s AND t.id <= (SELECT max(id) FROM stretch)
      AND t.updated_at < (SELECT clock_timestamp() - make_interval(secs => %(keep)s)) AND
--include over
    ORDER BY t.id
    LIMIT 1
)
