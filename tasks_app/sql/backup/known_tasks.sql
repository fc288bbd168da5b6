-- known_tasks: those of these tasks that are here.
SELECT t.id FROM punctual_any_task t WHERE t.id = ANY (%(ids)s::int8[])
