-- hand_on_turns: a row that took over from one that ran has its turn too: it is the same instance.
UPDATE punctual_turn w SET task = given.new
FROM unnest(%(olds)s::bigint[], %(news)s::bigint[]) AS given(old, new)
WHERE w.task = given.old
