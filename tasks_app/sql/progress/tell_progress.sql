-- tell_progress: how far these tasks say they are; of those that don't run under this batch any more, nothing.
WITH ours AS MATERIALIZED (
    SELECT given.id, given.fraction, given.note
    FROM unnest(%(ids)s::bigint[], %(fractions)s::float8[], %(notes)s::text[]) AS given(id, fraction, note)
    JOIN punctual_task t ON t.id = given.id AND t.status = 'RUNNING' AND t.batch_no = %(batch_no)s
)
--include keep_progress
