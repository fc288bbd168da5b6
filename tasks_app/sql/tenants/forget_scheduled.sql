-- forget_scheduled: counts that nobody asks for any more.
DELETE FROM punctual_schedule_count WHERE at < (SELECT clock_timestamp() - make_interval(secs => %(keep)s))
