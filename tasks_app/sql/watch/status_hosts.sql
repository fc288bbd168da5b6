-- status_hosts: hosts whose callbacks wait since calls to them failed, the longest first; a few of them.
SELECT e.tenant, e.host, cardinality(e.tasks), e.tries, e.error,
       date_part('epoch', clock_timestamp() - e.failing_since) AS failing_seconds,
       date_part('epoch', clock_timestamp() - e.unwell_since) AS unwell_seconds,
       date_part('epoch', e.try_at - clock_timestamp()) AS try_in
FROM punctual_host_health e
WHERE e.unwell_since IS NOT NULL
ORDER BY e.unwell_since
LIMIT %(most)s
