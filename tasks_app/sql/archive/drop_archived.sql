-- drop_archived: drop a partition if it holds exactly these rows, and say whether it did.
SELECT punctual_drop_archived(%(family)s::regclass, %(name)s, %(key)s, %(rows)s::bigint, %(total)s::numeric, %(squares)s::numeric)
