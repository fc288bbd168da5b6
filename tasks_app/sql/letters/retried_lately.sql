-- retried_lately: those of these tasks that people and programs have retried too often of late.
SELECT a.task_id FROM punctual_audit_entry a
WHERE a.task_id = ANY (%(ids)s::bigint[]) AND a.verb IN ('retry', 'replay')
  AND a.outcome <> 'limited'
  AND a.created_at > (SELECT clock_timestamp() - make_interval(secs => %(seconds)s))
GROUP BY a.task_id
HAVING count(*) >= %(most)s
