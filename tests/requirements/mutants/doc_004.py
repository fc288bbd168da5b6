"""Document 004: wake-ups."""

from tests.requirements.mutants import Mutant

WAKEUP = "tasks_app/engine/wakeup.py"
CLAIMS = "tasks_app/engine/beat/claims.py"
LANE_VIEWS = "tasks_app/engine/beat/lane_views.py"

MUTANTS = [
    Mutant("004 §1 a task of an hour ahead", WAKEUP, "if due < far for word", "if True for word"),
    Mutant(
        "004 §1 a task after the next poll",
        WAKEUP,
        "if not look or tonumber(ARGV[i + 1]) < tonumber(look) then",
        "if true then",
    ),
    Mutant("004 §1 one signal is pending", WAKEUP, "if not pending then", "if true then"),
    Mutant(
        "004 §1 one look takes all signals",
        "tasks_app/engine/beat/listener.py",
        "for i = 1, #KEYS do",
        "for i = 1, 1 do",
    ),
    Mutant(
        "004 §2 one batch, one start, one settle",
        "tasks_app/conf/knobs.py",
        "BATCH_UNSEEN: int = 8",
        "BATCH_UNSEEN: int = 1",
    ),
    Mutant(
        "004 §2 one claim",
        CLAIMS,
        "or 2 * sum(batch.size for batch in batches) >= asked:",
        "or batches:",
    ),
    Mutant(
        "004 §3 a task for now wakes the beat",
        "tasks_app/engine/operations/scheduling.py",
        "    wake_on_commit({shard_of_one(*unit): due})\n",
        "    return\n",
    ),
    Mutant(
        "004 §4 handled until none is due",
        LANE_VIEWS,
        "return LOCKED_POLL_SECONDS if view.lane in locked else 0.0",
        "return LOCKED_POLL_SECONDS",
    ),
    Mutant("004 §4 the timer", "tasks_app/conf/knobs.py", "LOOK_SECONDS: float = 1.0", "LOOK_SECONDS: float = 2.0"),
    Mutant(
        "004 §4 the timer ends at the next task",
        LANE_VIEWS,
        "return min(view.next_due - now, longest)",
        "return longest",
    ),
    Mutant(
        "004 §4 the earliest signal is left",
        WAKEUP,
        "elseif tonumber(ARGV[i + 1]) < (tonumber(pending) or 0) then",
        "elseif false then",
    ),
    Mutant(
        "004 §4 the earliest task of a transaction",
        WAKEUP,
        "self.dues[shard] = min(due, self.dues.get(shard, due))",
        "self.dues[shard] = self.dues.get(shard, due)",
    ),
    Mutant(
        "004 §4 no signal before the commit",
        WAKEUP,
        "if connection.autocommit and not in_transaction(connection):",
        "if True:",
    ),
]
