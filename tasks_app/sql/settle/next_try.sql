-- Seconds until the next try of `t`, without jitter: by its job, by its type if that has delays of its own, or the usual ones.
coalesce(
                          (SELECT d.backoff[least(t.attempt + 1, cardinality(d.backoff))]
                           FROM punctual_job d WHERE d.id = t.job),
                          (SELECT (of_type.steps ->> least(t.attempt, jsonb_array_length(of_type.steps) - 1))::float8
                           FROM (SELECT coalesce(%(delays)s::jsonb -> t.task_type, %(usual)s::jsonb) AS steps) AS of_type))
