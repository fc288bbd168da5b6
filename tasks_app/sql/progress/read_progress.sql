-- read_progress: how far these tasks said they are, and when.
SELECT task, fraction, note, at FROM punctual_progress WHERE task = ANY (%(ids)s::bigint[])
