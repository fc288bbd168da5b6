-- clock: the database's time, by which everything is decided.
SELECT clock_timestamp()
