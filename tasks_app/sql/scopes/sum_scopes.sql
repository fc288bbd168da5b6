-- sum_scopes: the live tries of each scope that has failed, in ten minutes and in five; and for how many seconds some have failed.
SELECT m.tenant, m.target, sum(m.ok)::bigint, sum(m.failed)::bigint,
       coalesce(sum(m.ok) FILTER (WHERE m.minute >= last.minute - interval '5 minutes'), 0)::bigint,
       coalesce(sum(m.failed) FILTER (WHERE m.minute >= last.minute - interval '5 minutes'), 0)::bigint,
       coalesce(extract(epoch FROM clock_timestamp() - min(m.minute) FILTER (WHERE m.failed > 0)), 0)::float8
FROM (SELECT date_trunc('minute', now()) AS minute) AS last, punctual_scope_minute m
WHERE m.minute >= date_trunc('minute', now()) - interval '10 minutes'
GROUP BY m.tenant, m.target
