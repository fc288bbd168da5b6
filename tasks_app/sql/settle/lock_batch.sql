-- lock_batch: lock a batch and the rows to be settled, in order, before several statements settle them by kind.
WITH
--include mark_success.mine
SELECT (SELECT count(*) FROM mine) FROM b
