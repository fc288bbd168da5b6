-- forget_windows: all of them. The rows were restored, and come again as one window, by their ids; so each cursor goes to
-- the first row that its subscriber may not have: in or after the window that it was in, or in none.
-- What was under way when the rows were dumped can't be among them; what had come after the last window has larger ids, or
-- was not seen by it.
WITH last AS MATERIALIZED (
    SELECT no, max(max_id) OVER () AS max_id, after::pg_snapshot AS after, floor_id
    FROM punctual_outbox_window ORDER BY no DESC LIMIT 1
), unseen AS MATERIALIZED (
    SELECT min(o.id) AS id FROM last CROSS JOIN LATERAL (
        (SELECT id FROM punctual_outbox WHERE id > last.max_id ORDER BY id LIMIT 1)
        UNION ALL
        (SELECT min(id) FROM punctual_outbox
         WHERE id > last.floor_id AND id <= last.max_id AND NOT pg_visible_in_snapshot(xid, last.after))
    ) AS o
), moved AS (
    UPDATE punctual_subscription s
    SET window_no = last.no + 1, place = 0, holder = NULL, fence = s.fence + 1,
        row_id = least(unseen.id, last.max_id + 1,
                       (SELECT CASE WHEN w.no = s.window_no THEN greatest(w.min_id, s.row_id) ELSE w.min_id END
                        FROM punctual_outbox_window w WHERE w.no >= s.window_no
                        ORDER BY CASE WHEN w.no = s.window_no THEN greatest(w.min_id, s.row_id) ELSE w.min_id END LIMIT 1))
    FROM last, unseen
    RETURNING s.id
), gone AS (
    DELETE FROM punctual_outbox_window RETURNING no
)
SELECT coalesce(max(no), 0) FROM gone
