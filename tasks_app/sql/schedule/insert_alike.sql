-- insert_alike: new rows for tasks of one type that are alike but for key, time and payload; a unit that is taken is left out, and
-- so are all if their tenant is bound by something that counts. Rows come sorted by key, so that two callers can't deadlock.
-- For an installation that keeps no event of it: insert_told_alike tells.
--include new_alike
--include unless_taken
RETURNING biz_key, id, date_part('epoch', due_at)
