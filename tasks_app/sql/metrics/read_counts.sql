-- read_counts: all that /metrics shows: the counts and gauges that a beat keeps, and what must be told even if none does:
-- the installation, processes, shards, lanes, canaries, chores, backups, the audit trail and the last recovery, a few rows
-- each. Ages are as of now.
SELECT 'count', c.name, c.labels, c.value, c.buckets FROM punctual_count c
UNION ALL
SELECT 'gauges', '', p.gauges::text, extract(epoch FROM clock_timestamp() - p.at)::float8, ARRAY[round(p.seconds * 1e6)]::bigint[]
FROM punctual_count_pass p
UNION ALL
SELECT 'sample', '', p.sample::text, extract(epoch FROM clock_timestamp() - p.sampled_at)::float8, NULL
FROM punctual_count_pass p
UNION ALL
SELECT 'node', n.kind, json_build_array(n.name, extract(epoch FROM clock_timestamp() - n.started_at)::float8, n.slots, n.lanes, n.figures)::text,
       extract(epoch FROM clock_timestamp() - n.seen_at)::float8, NULL
FROM punctual_node n
UNION ALL
SELECT 'shard', CASE WHEN l.holder IS NOT NULL AND l.lease_until > clock_timestamp() THEN 'held' ELSE 'free' END, '',
       extract(epoch FROM l.lease_until - clock_timestamp())::float8, ARRAY[l.fence]
FROM punctual_shard_lease l
UNION ALL
SELECT 'paused', p.lane, '', 1, NULL FROM punctual_lane_pause p
UNION ALL
SELECT 'paused', c.target, '', 1, NULL FROM punctual_curb c WHERE c.kind = 'lane'
UNION ALL
SELECT 'installation', i.state, coalesce(i.site, ''), (i.held_before IS NOT NULL AND i.answer IS NULL)::int, ARRAY[i.site_epoch]
FROM punctual_installation i
UNION ALL
SELECT 'canary', t.biz_key, '', extract(epoch FROM clock_timestamp() - coalesce(t.start_time, t.created_at))::float8,
       ARRAY[round(extract(epoch FROM t.repeat_after) * 1e6)]::bigint[]
FROM punctual_task t
WHERE t.task_type = %(canary)s AND t.current AND t.status <> 'CANCELLED'
  AND t.biz_key = ANY (%(lanes)s::text[]) AND t.tenant = %(tenant)s
UNION ALL
SELECT 'chore', e.name, '', extract(epoch FROM clock_timestamp() - e.done_at)::float8, ARRAY[e.failures]::bigint[]
FROM punctual_chore e
UNION ALL
SELECT 'backup', p.number::text,
       json_build_array(extract(epoch FROM clock_timestamp() - p.covered_until)::float8, p.behind_bytes,
                        extract(epoch FROM clock_timestamp() - p.base_at)::float8,
                        extract(epoch FROM clock_timestamp() - p.restored_at)::float8, (p.error = '')::int)::text, NULL, NULL
FROM punctual_backup_place p
UNION ALL
(SELECT 'unchained', '', '', extract(epoch FROM clock_timestamp() - u.created_at)::float8, NULL
 FROM punctual_audit_unchained u ORDER BY u.entry_id LIMIT 1)
UNION ALL
(SELECT 'anchor', '', '', extract(epoch FROM clock_timestamp() - a.at)::float8, NULL
 FROM punctual_audit_anchor a ORDER BY a.no DESC LIMIT 1)
UNION ALL
SELECT 'anchor place', p.place, '', (p.error = '')::int, NULL FROM punctual_audit_place p
UNION ALL
(SELECT 'recovery', '', '', extract(epoch FROM coalesce(r.finished_at, clock_timestamp()) - r.began_at)::float8,
        ARRAY[(r.finished_at IS NULL)::int, r.resumed, r.replayed, r.letters_moved]::bigint[]
 FROM punctual_recovery r ORDER BY r.id DESC LIMIT 1)
