-- insert_new_alike: insert_alike, where a unit that is taken is an error: nothing is written then. To insert a row so that it can
-- be taken back, and to look for the unit first, takes a fifth of the time of an insert.
--include new_alike
RETURNING biz_key, id, date_part('epoch', due_at)
