-- make_class: a retention class gets a table of its own, once; its partitions are made as they are needed.
SELECT punctual_make_class(%(retention)s)
