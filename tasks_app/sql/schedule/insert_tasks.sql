-- insert_tasks: new rows, INIT and due at their time. A unit that is taken is left out, not an error: a violation
-- would end the caller's transaction. Rows come sorted by unit, so that two callers can't deadlock.
-- For an installation that keeps no event of it, as most: insert_told_tasks tells.
--include new_units
)
SELECT tenant, task_type, biz_key, id, date_part('epoch', due_at) FROM created
