-- drop_counts: the counts of names that have no series any more. `places` says which label of each metric has the name.
DELETE FROM punctual_count c
USING unnest(%(names)s::text[], %(places)s::int[]) AS of_name(name, place)
WHERE c.name = of_name.name AND c.labels::jsonb ->> of_name.place = ANY (%(dropped)s::text[])
