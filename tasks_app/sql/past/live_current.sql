-- live_current: the row that stands for a unit among what is live, whole; past_current is asked for one that has none there.
SELECT
--include columns
FROM punctual_task
WHERE biz_key = %(key)s AND task_type = %(type)s AND tenant = %(tenant)s AND current
