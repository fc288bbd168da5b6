-- await_start: whoever starts this batch right now has done so. To be asked before a start that is asked again.
SELECT batch_no FROM punctual_batch WHERE batch_no = %(batch_no)s FOR NO KEY UPDATE
