"""Wrong versions of what document 002 says, a task scheduler."""

from . import Mutant

_SAFEGUARDS = "tasks_app/core/safeguards.py"
_PULSE = "tasks_app/engine/beat/safeguards/pulse.py"
_RULES = "tasks_app/engine/beat/safeguards/rules.py"
_DELAY = "Name.DELAY: Policy(limit=2_000.0, sample=20, on_seconds=300.0, off_seconds=600.0)"
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
    Mutant("002 §11.1 paused", _SAFEGUARDS, "rate=slowed if stage == 1 else 0.0", "rate=slowed"),
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
    Mutant(
        "002 §11.2 10 minutes", "tasks_app/sql/scopes/sum_scopes.sql", "interval '10 minutes'", "interval '20 minutes'"
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
]
