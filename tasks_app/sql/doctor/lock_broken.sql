-- lock_broken: rows that a repair is for, locked in order of id: the statement after this one sees what was written until then.
SELECT id FROM punctual_task WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR UPDATE
