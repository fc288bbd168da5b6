-- await_start: wait until a concurrent start of this batch has ended. Run this before a start is sent again.
SELECT batch_no FROM punctual_batch WHERE batch_no = %(batch_no)s FOR NO KEY UPDATE
