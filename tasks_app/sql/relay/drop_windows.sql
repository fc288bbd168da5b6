-- drop_windows: those whose rows are gone with their partitions; never the newest, which the next one follows.
DELETE FROM punctual_outbox_window
WHERE max_at < %(before)s AND no < (SELECT max(no) FROM punctual_outbox_window)
RETURNING no
