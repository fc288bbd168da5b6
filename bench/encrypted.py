"""encrypted: 50,000 due tasks with payloads of 1 kB that their handler reads, encrypted and in the clear, in turns."""

import secrets
import statistics
import time
from datetime import UTC, datetime
from typing import NamedTuple

from . import cost, drain, tasks
from .peers.programs import work
from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS = {"encrypted_ratio": {"at_least": 0.8}}
TASKS = 50_000
ROUNDS = 3
PAYLOAD_BYTES = 1_000
PLAIN, ENCRYPTED = "BENCH_READ", "BENCH_READ_ENCRYPTED"


class Round(NamedTuple):
    per_s: float  # from the first claim to the last settle, as drain has it
    postgres_us: float  # of processor time a task, from the claim to the settle
    ours_us: float
    scheduled_per_s: float
    table_bytes: float  # a task, before it ran


def run(stack: Stack) -> dict:
    rounds: dict[str, list[Round]] = {PLAIN: [], ENCRYPTED: []}
    for _ in range(ROUNDS):
        for task_type, found in rounds.items():
            found.append(_measure(stack, task_type))
    plain, encrypted = (Round(*map(statistics.median, zip(*found, strict=True))) for found in rounds.values())
    by_processor = (plain.postgres_us + plain.ours_us) / (encrypted.postgres_us + encrypted.ours_us)
    return {
        "encrypted_ratio": round(encrypted.per_s / plain.per_s, 3),
        "ratio_by_processor": round(by_processor, 3),
        "schedule_ratio": round(encrypted.scheduled_per_s / plain.scheduled_per_s, 3),
        **{f"encrypted_{name}": round(value, 1) for name, value in encrypted._asdict().items()},
        **{f"plain_{name}": round(value, 1) for name, value in plain._asdict().items()},
        "encrypted_runs_per_s": [round(one.per_s) for one in rounds[ENCRYPTED]],
        "plain_runs_per_s": [round(one.per_s) for one in rounds[PLAIN]],
    }


def _measure(stack: Stack, task_type: str) -> Round:
    from tasks_app.engine.operations import lanes

    empty_tables()
    stack.start(beats=1)
    drain.warm_up(task_type)
    lanes.pause("default", reason="the bench", by="bench")
    scheduled = _schedule(task_type)
    ((size,),) = query("SELECT pg_table_size('punctual_task')")
    ((began,),) = query("SELECT clock_timestamp()")
    before = cost.read(stack)
    lanes.resume("default", reason="the bench", by="bench")
    wait_settled(TASKS + drain.WARM_UP)
    used = cost.read(stack).since(before, TASKS)
    ((seconds,),) = query(
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM punctual_batch"
        " WHERE claimed_at > %s AND task_type = %s",
        [began, task_type],
    )
    stack.stop()
    drain.check(task_type, TASKS)
    return Round(TASKS / seconds, used["postgres_us"], used["ours_us"], scheduled, size / TASKS)


def _schedule(task_type: str) -> float:
    """Tasks a second. Payloads that can't be compressed, each another: as most of what is worth encrypting."""
    from django_punctual import schedule_many

    times = work.times_from(time.time() + TASKS / 5_000, TASKS)
    given = [
        {
            "key": work.key_of(number),
            "at": datetime.fromtimestamp(at, UTC),
            "payload": {"number": number, "text": secrets.token_hex(PAYLOAD_BYTES // 2)},
        }
        for number, at in enumerate(times)
    ]
    took = 0.0
    for first in range(0, TASKS, tasks.CALL):
        began = time.monotonic()
        schedule_many(task_type, given[first : first + tasks.CALL])
        took += time.monotonic() - began
    _check_stored(task_type)
    execute("VACUUM ANALYZE punctual_task")
    execute("CHECKPOINT")
    tasks.wait_until(times[-1])
    return TASKS / took


def _check_stored(task_type: str) -> None:
    ((clear,),) = query("SELECT count(*) FROM punctual_task WHERE task_type = %s AND payload ? 'number'", [task_type])
    if clear != (TASKS if task_type == PLAIN else 0):
        raise SystemExit(f"{clear} payloads of {task_type} are stored in the clear")
