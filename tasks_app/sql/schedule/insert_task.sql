-- insert_task: a new row for a unit that is not taken. For an installation that keeps no event of it: insert_told_task tells.
--include new_row
--include unless_taken
RETURNING id, date_part('epoch', due_at)
