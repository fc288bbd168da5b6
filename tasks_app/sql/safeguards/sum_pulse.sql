-- sum_pulse: of each type that ran in the last minutes, its tries that succeeded and failed in ten of them and in five, and how long
-- those of the last two took that ran here; and for how many seconds some have failed.
SELECT task_type, sum(ok)::bigint, sum(failed)::bigint,
       coalesce(sum(ok) FILTER (WHERE p.minute >= last.minute - interval '5 minutes'), 0)::bigint,
       coalesce(sum(failed) FILTER (WHERE p.minute >= last.minute - interval '5 minutes'), 0)::bigint,
       coalesce(sum(ok + failed - returned) FILTER (WHERE p.minute >= last.minute - interval '2 minutes'), 0)::bigint,
       coalesce(sum(run_us) FILTER (WHERE p.minute >= last.minute - interval '2 minutes'), 0)::bigint,
       coalesce(extract(epoch FROM clock_timestamp() - min(p.minute) FILTER (WHERE failed > 0)), 0)::float8
FROM (SELECT date_trunc('minute', now()) AS minute) AS last, punctual_pulse p
WHERE p.minute >= date_trunc('minute', now()) - interval '10 minutes'
GROUP BY task_type
