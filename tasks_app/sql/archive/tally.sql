-- tally: the rows of a partition as three numbers that can be compared with those of the archive.
SELECT number, total, squares FROM punctual_tally(%(name)s::regclass, %(key)s)
