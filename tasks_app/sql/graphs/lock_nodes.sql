-- lock_nodes: the tasks of a run that may be run again, locked in order of id.
SELECT id FROM punctual_task WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR UPDATE
