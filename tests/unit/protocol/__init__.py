"""The claim-to-settle protocol as a model of plain tuples, searched exhaustively for a broken promise.

Read a verb here beside its statement in the product: `dispatcher` (claim, publish, return_batch), `reap`, `worker`
(start, load, begin, heartbeat, return), `settle`, `people` (reschedule, ensure, cancel, replay, discard), `over` (the
mover, and how what it moved is found again and comes back), `leaving` (every door out of RUNNING), `telling` (the
outbox).
`promises` says what must hold, apart from the verbs; `rules` names what can be left out.

A single statement is one step, whose WHERE is checked on the newest row version. A transaction of several is several
steps that keep their locks in between; what has to wait for a lock has no step to take until it is free. Left out,
because they add doors and not races: BLOCKED, tenants, lanes, shards; idempotency keys but for `schedule` of a task
that is there already.
"""
