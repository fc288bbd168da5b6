-- window_at: the first window that may have something of this moment or later; empty: there is none yet.
SELECT min(no) FROM punctual_outbox_window WHERE max_at >= %(since)s
