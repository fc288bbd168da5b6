-- sum_pulse: of each type that ran in the last minutes, its tries that succeeded and failed in ten of them and in five, and how long
-- those of the last two took.
SELECT task_type, sum(ok)::bigint, sum(failed)::bigint,
       coalesce(sum(ok) FILTER (WHERE p.minute >= last.minute - interval '5 minutes'), 0)::bigint,
       coalesce(sum(failed) FILTER (WHERE p.minute >= last.minute - interval '5 minutes'), 0)::bigint,
       coalesce(sum(ok + failed) FILTER (WHERE p.minute >= last.minute - interval '2 minutes'), 0)::bigint,
       coalesce(sum(run_us) FILTER (WHERE p.minute >= last.minute - interval '2 minutes'), 0)::bigint
FROM (SELECT date_trunc('minute', now()) AS minute) AS last, punctual_pulse p
WHERE p.minute >= date_trunc('minute', now()) - interval '10 minutes'
GROUP BY task_type
