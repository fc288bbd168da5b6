"""Wrong versions of what document 002 says, a task scheduler."""

from . import Mutant

_SAFEGUARDS = "tasks_app/core/safeguards.py"
_PULSE = "tasks_app/engine/beat/safeguards/pulse.py"
_DELAY = "Name.DELAY: Policy(limit=2_000.0, sample=20, on_seconds=300.0, off_seconds=600.0)"
_KNOBS = "tasks_app/conf/knobs.py"
_RECOVERY = "tasks_app/core/recovery.py"
_RETRY = "tasks_app/core/retry.py"
_LANES = "tasks_app/core/lanes.py"
_JUDGING = "tasks_app/drills/judging.py"
_PROBLEMS = "tasks_app/api/problems.py"
_PANELS = "tasks_app/static/tasks_app/panels"
_KEY = "j.id || ':' || f.label"
_FAILURES = "Name.FAILURES: Policy(limit=0.995, sample=200, on_seconds=30.0, off_seconds=600.0)"

MUTANTS = [
    # §11: the four thresholds.
    Mutant("002 §11.1 p95 > 2000 ms", _SAFEGUARDS, _DELAY, _DELAY.replace("2_000", "3_500")),
    Mutant("002 §11.1 p95 > 2000 ms", _SAFEGUARDS, _DELAY, _DELAY.replace("2_000", "1_900")),
    Mutant("002 §11.1 p95 > 2000 ms", "tasks_app/core/lateness.py", "_FIRST_MS = 1_000 / 2**12", "_FIRST_MS = 0.25"),
    Mutant("002 §11.1 p95", _PULSE, "percentile_ms(self.lateness, 0.95)", "percentile_ms(self.lateness, 0.99)"),
    Mutant("002 §11.1 5 minutes", _SAFEGUARDS, _DELAY, _DELAY.replace("on_seconds=300", "on_seconds=299")),
    Mutant("002 §11.1 5 minutes", _SAFEGUARDS, _DELAY, _DELAY.replace("on_seconds=300", "on_seconds=301")),
    Mutant("002 §11.1 sample", _SAFEGUARDS, _DELAY, _DELAY.replace("sample=20", "sample=21")),
    Mutant("002 §11.1 sample", _SAFEGUARDS, _DELAY, _DELAY.replace("sample=20", "sample=19")),
    Mutant("002 §11.1 well again", _SAFEGUARDS, _DELAY, _DELAY.replace("off_seconds=600", "off_seconds=300")),
    Mutant("002 §11.1 low", _SAFEGUARDS, 'SLOWED_LANE = "low"', 'SLOWED_LANE = "backfill"'),
    Mutant("002 §11.1 a quarter", _SAFEGUARDS, "SLOWED = 0.25", "SLOWED = 0.5"),
    Mutant("002 §11.1 paused", _SAFEGUARDS, "rate=low if stage == 1 else 0.0", "rate=low"),
    Mutant(
        "002 §11.1 every 5 s",
        "tasks_app/conf/knobs.py",
        "SAFEGUARD_SECONDS: float = 5.0",
        "SAFEGUARD_SECONDS: float = 0.0",
    ),
    Mutant("002 §11.1 scale", "tasks_app/lifecycle/safeguards/wanted.py", "MORE = 1.5", "MORE = 1.0"),
    Mutant(
        "002 §11.1 scale",
        "tasks_app/lifecycle/safeguards/wanted.py",
        "beats = dispatchers + (slots > 0 and busy < IDLE * slots)",
        "beats = dispatchers + 0",
    ),
    Mutant("002 §11.2 99.5 %", _SAFEGUARDS, _FAILURES, _FAILURES.replace("0.995", "0.98")),
    Mutant("002 §11.2 99.5 %", _SAFEGUARDS, _FAILURES, _FAILURES.replace("0.995", "0.996")),
    Mutant("002 §11.2 sample", _SAFEGUARDS, _FAILURES, _FAILURES.replace("sample=200", "sample=201")),
    Mutant("002 §11.2 sample", _SAFEGUARDS, _FAILURES, _FAILURES.replace("sample=200", "sample=199")),
    Mutant(
        "002 §11.2 10 minutes", "tasks_app/sql/scopes/sum_scopes.sql", "interval '10 minutes'", "interval '5 minutes'"
    ),
    Mutant("002 §11.2 50 %", _SAFEGUARDS, "RETRIES_SLOWED = 0.5", "RETRIES_SLOWED = 0.75"),
    Mutant(
        "002 §11.2 backfills", _SAFEGUARDS, "return held if target.startswith(HOST) else", "return held if True else"
    ),
    Mutant("002 §11.3 200,000", _SAFEGUARDS, "Policy(limit=200_000.0", "Policy(limit=150_000.0"),
    Mutant("002 §11.3 200,000", _SAFEGUARDS, "Policy(limit=200_000.0", "Policy(limit=200_001.0"),
    Mutant("002 §11.3 buckets", _SAFEGUARDS, "BUCKETS = ((0.1, 6.0), (1.0, 3.0)", "BUCKETS = ((0.1, 1.0), (1.0, 3.0)"),
    Mutant("002 §11.3 buckets", _SAFEGUARDS, "BUCKETS = ((0.1, 6.0), (1.0, 3.0)", "BUCKETS = ((0.2, 6.0), (1.0, 3.0)"),
    Mutant("002 §11.3 buckets", _SAFEGUARDS, "BUCKETS = ((0.1, 6.0), (1.0, 3.0)", "BUCKETS = ((0.1, 6.0), (2.0, 3.0)"),
    Mutant("002 §11.3 half", _SAFEGUARDS, "RETRIES_OF_ALL = 0.5", "RETRIES_OF_ALL = 0.8"),
    Mutant(
        "002 §11.3 retries",
        "tasks_app/sql/safeguards/retries_waiting.sql",
        "t.status = 'FAIL' AND t.attempt > 0",
        "true",
    ),
    Mutant("002 §11.4 1000", _SAFEGUARDS, "Policy(limit=1_000.0", "Policy(limit=1_500.0"),
    Mutant("002 §11.4 1000", _SAFEGUARDS, "Policy(limit=1_000.0", "Policy(limit=999.0"),
    Mutant("002 §11.4 a minute", _PULSE, '"seconds": 60.0', '"seconds": 120.0'),
    Mutant("002 §11.4 a minute", _PULSE, '"seconds": 60.0', '"seconds": 30.0'),
    Mutant("002 §11.4 core", _SAFEGUARDS, 'FIRES_ON = "critical"', 'FIRES_ON = "high"'),
    Mutant("002 §11.4 triggers", _SAFEGUARDS, "return [*lanes, Curb(Kind.TRIGGERS, EVERYTHING)]", "return lanes"),
    Mutant("002 §11.4 one cause", _SAFEGUARDS, "ONE_CAUSE = 0.8", "ONE_CAUSE = 0.9"),
    Mutant("002 §11.4 one cause", _SAFEGUARDS, "ONE_CAUSE = 0.8", "ONE_CAUSE = 0.75"),
    Mutant("002 §11 act", _SAFEGUARDS, "mode: str = Mode.ACT", "mode: str = Mode.TELL"),
    # §4: service levels.
    Mutant("002 §4 99.9 %", _KNOBS, "AVAILABILITY_GOAL: float = 0.999", "AVAILABILITY_GOAL: float = 0.99"),
    Mutant("002 §4 99.9 %", _KNOBS, "AVAILABILITY_GOAL: float = 0.999", "AVAILABILITY_GOAL: float = 0.9999"),
    Mutant("002 §4 p95 < 2 s", _KNOBS, "DELAY_GOAL_MS: float = 2_000.0", "DELAY_GOAL_MS: float = 3_000.0"),
    Mutant("002 §4 p95 < 2 s", _KNOBS, "DELAY_GOAL_MS: float = 2_000.0", "DELAY_GOAL_MS: float = 1_900.0"),
    Mutant("002 §4 p95 < 2 s", "tasks_app/core/service_levels.py", "DELAY_SHARE = 0.95", "DELAY_SHARE = 0.99"),
    Mutant("002 §4 success", _KNOBS, "SUCCESS_GOAL: float = 0.995", "SUCCESS_GOAL: float = 0.99"),
    Mutant("002 §4 canaries", _KNOBS, "CANARY_SECONDS: float = 10.0", "CANARY_SECONDS: float = 60.0"),
    Mutant("002 §4 180 days", _KNOBS, "KEEP_AUDIT_DAYS: float = 180.0", "KEEP_AUDIT_DAYS: float = 365.0"),
    # §5 and §14: what is kept.
    Mutant("002 §14 14 days", _KNOBS, "KEEP_HOT_DAYS: float = 14.0", "KEEP_HOT_DAYS: float = 13.0"),
    Mutant("002 §14 14 days", _KNOBS, "KEEP_HOT_DAYS: float = 14.0", "KEEP_HOT_DAYS: float = 15.0"),
    Mutant("002 §5 90 days", _KNOBS, "KEEP_COLD_DAYS: float = 90.0", "KEEP_COLD_DAYS: float = 89.0"),
    Mutant("002 §5 90 days", _KNOBS, "KEEP_COLD_DAYS: float = 90.0", "KEEP_COLD_DAYS: float = 91.0"),
    Mutant("002 §14 live", _KNOBS, "KEEP_LIVE_SECONDS: float = 600.0", "KEEP_LIVE_SECONDS: float = 580.0"),
    Mutant("002 §14 live", _KNOBS, "KEEP_LIVE_SECONDS: float = 600.0", "KEEP_LIVE_SECONDS: float = 1_200.0"),
    # §7 to §10.
    Mutant("002 §8 Idempotency-Key", _PROBLEMS, '"SCH_400_IDEMPOTENCY_KEY_MISSING",', '"SCH_400_MALFORMED",'),
    Mutant("002 §8 duplicate", _PROBLEMS, 'NameTaken: "SCH_409_DUPLICATE"', 'NameTaken: "SCH_409_CONFLICT"'),
    Mutant("002 §8 no dispatcher", "tasks_app/api/jobs.py", "if not somebody_dispatches():", "if False:"),
    Mutant("002 §11.2 refused", _PROBLEMS, 'RetryLimited: "SCH_429_RETRY_LIMITED"', 'RetryLimited: "SCH_429_TOO_MANY"'),
    Mutant("002 §9 ahead", _KNOBS, "PLAN_AHEAD_SECONDS: float = 60.0", "PLAN_AHEAD_SECONDS: float = 300.0"),
    Mutant(
        "002 §10 idem_key",
        "tasks_app/sql/jobs/new_instances.sql",
        f"{_KEY}, {_KEY},",
        f"{_KEY}, f.label || ':' || j.id,",
    ),
    Mutant("002 §10 event", "tasks_app/sql/settle/mark_fail.sql", "THEN 'task.dead' ELSE", "THEN 'task.failed' ELSE"),
    Mutant("002 §10 events", "tasks_app/core/events.py", '"!task.released", "!task.succeeded")', '"!task.released")'),
    # §12, §13 and §15: recovery and leases.
    Mutant("002 §12 3 minutes", _RECOVERY, "Step.FREEZE: 3,", "Step.FREEZE: 5,"),
    Mutant("002 §12 10 minutes", _RECOVERY, "Step.TAKEOVER: 10,", "Step.TAKEOVER: 15,"),
    Mutant("002 §12 30 minutes", _RECOVERY, "dict.fromkeys(list(Step)[3:], 30)", "dict.fromkeys(list(Step)[3:], 60)"),
    Mutant("002 §12 limits", "tasks_app/lifecycle/recovery.py", '"met": after <= 60', '"met": after < 60'),
    Mutant("002 §12 P2", _RECOVERY, 'CAN_WAIT = ("low", "backfill")', 'CAN_WAIT = ("backfill",)'),
    Mutant("002 §12 RTO", _JUDGING, "elif took > limits.rto:", "elif took >= limits.rto:"),
    Mutant("002 §12 RTO", _JUDGING, "elif took > limits.rto:", "elif took > limits.rto + 1:"),
    Mutant("002 §12 RPO", _JUDGING, "if figures.rpo_s > limits.rpo:", "if figures.rpo_s >= limits.rpo + 1.5:"),
    Mutant("002 §12 RPO", _JUDGING, "if figures.rpo_s > limits.rpo:", "if figures.rpo_s >= limits.rpo:"),
    Mutant("002 §12 RPO", "tasks_app/drills/kinds/restore.py", "Limits(rto=300, rpo=1.0)", "Limits(rto=300, rpo=90.0)"),
    Mutant("002 §12 RPO", _KNOBS, "BACKUP_BEHIND_SECONDS: float = 60.0", "BACKUP_BEHIND_SECONDS: float = 600.0"),
    Mutant("002 §13 lost", _KNOBS, "DISPATCH_LEASE_SECONDS: float = 15.0", "DISPATCH_LEASE_SECONDS: float = 60.0"),
    Mutant("002 §13 lost", _KNOBS, "RUN_LEASE_SECONDS: float = 30.0", "RUN_LEASE_SECONDS: float = 60.0"),
    Mutant("002 §15 lease", _KNOBS, "SHARD_LEASE_SECONDS: float = 8.0", "SHARD_LEASE_SECONDS: float = 10.0"),
    Mutant("002 §15 poll", _KNOBS, "BATCH_TARGET_MS: float = 200.0", "BATCH_TARGET_MS: float = 400.0"),
    Mutant("002 §15 poll", _KNOBS, "BATCH_MAX: int = 4000", "BATCH_MAX: int = 8000"),
    Mutant("002 §15 poll", _KNOBS, "BATCH_UNSEEN: int = 8", "BATCH_UNSEEN: int = 16"),
    Mutant("002 §15 recover", _RECOVERY, "REPLAY_MINUTES = 15", "REPLAY_MINUTES = 10"),
    Mutant("002 §15 recover", _RECOVERY, "REPLAY_MINUTES = 15", "REPLAY_MINUTES = 20"),
    Mutant("002 §15 recover", _RECOVERY, 'LETTERS_TAG = "transient_error"', 'LETTERS_TAG = "transient"'),
    Mutant("002 §15 recover", _RECOVERY, "LETTERS_MOST = 5_000", "LETTERS_MOST = 5_001"),
    Mutant("002 §15 recover", _RECOVERY, "LETTERS_MOST = 5_000", "LETTERS_MOST = 4_999"),
    Mutant("002 §15 recover", _RECOVERY, '"RECOVERY_COMPLETED"', '"COMPLETED"'),
    # §15: RetryPlanner.
    Mutant("002 §15 retry", _RETRY, "base: float = 0.5", "base: float = 1.0"),
    Mutant("002 §15 retry", _RETRY, "doublings: int = 8", "doublings: int = 9"),
    Mutant("002 §15 retry", _RETRY, "doublings: int = 8", "doublings: int = 7"),
    Mutant("002 §15 retry", _RETRY, "= (0.1, 0.8)", "= (0.0, 0.8)"),
    Mutant("002 §15 retry", _RETRY, "= (0.1, 0.8)", "= (0.1, 1.0)"),
    Mutant("002 §15 retry", _RETRY, "cap: float = 300.0", "cap: float = 600.0"),
    Mutant("002 §15 DLQ", _RETRY, "DEFAULT_MAX_RETRY = 5", "DEFAULT_MAX_RETRY = 4"),
    Mutant("002 §15 DLQ", _RETRY, "DEFAULT_MAX_RETRY = 5", "DEFAULT_MAX_RETRY = 6"),
    # §16: the panel.
    Mutant("002 §16 2 s", f"{_PANELS}/poller.js", "FIRST_MS = 2000", "FIRST_MS = 1000"),
    Mutant("002 §16 30 s", f"{_PANELS}/poller.js", "MOST_MS = 30000", "MOST_MS = 60000"),
    Mutant("002 §16 2000 ms", f"{_PANELS}/health.js", "LATE_MS = 2000", "LATE_MS = 2500"),
    # §18 and §22.
    Mutant(
        "002 §18.2 delays",
        _RETRY,
        "return self.seconds[min(failures, len(self.seconds)) - 1]",
        "return self.seconds[0]",
    ),
    Mutant("002 §18.8 backfill", _LANES, '"deferred": 2, "backfill": 1}', '"deferred": 2, "backfill": 4}'),
    Mutant("002 §18.11 lane", _LANES, 'DEFERRED_LANE = "deferred"', 'DEFERRED_LANE = "low"'),
    Mutant("002 §18.12 core first", _LANES, 'WEIGHTS = {"critical": 16', 'WEIGHTS = {"critical": 8'),
    Mutant("002 §22 shards", _KNOBS, "SHARDS: int = 16", "SHARDS: int = 8"),
    Mutant("002 §22 wheel", "tasks_app/engine/beat/time_wheel.py", "LEAST = 1_000", "LEAST = 1_001"),
    Mutant("002 §22 wheel", "tasks_app/engine/beat/time_wheel.py", "MOST_SECONDS = 0.4", "MOST_SECONDS = 0.5"),
    Mutant("002 §22 ahead", "tasks_app/engine/beat/claim_ahead.py", "MOST_SECONDS = 0.050", "MOST_SECONDS = 0.500"),
]
