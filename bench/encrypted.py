"""encrypted: 50,000 due tasks with payloads of 1 kB that their handler reads, encrypted and in the clear, in turns."""

import secrets
import statistics
import time
from datetime import UTC, datetime

from . import drain, tasks
from .peers.programs import work
from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS = {"encrypted_ratio": {"at_least": 0.8}}
TASKS = 50_000
ROUNDS = 3
PAYLOAD_BYTES = 1_000
PLAIN, ENCRYPTED = "BENCH_READ", "BENCH_READ_ENCRYPTED"


def run(stack: Stack) -> dict:
    plain, encrypted, scheduled = [], [], {PLAIN: [], ENCRYPTED: []}
    for _ in range(ROUNDS):
        plain.append(_measure(stack, PLAIN, scheduled))
        encrypted.append(_measure(stack, ENCRYPTED, scheduled))
    medians = {task_type: statistics.median(rates) for task_type, rates in scheduled.items()}
    return {
        "encrypted_ratio": round(statistics.median(encrypted) / statistics.median(plain), 3),
        "schedule_ratio": round(medians[ENCRYPTED] / medians[PLAIN], 3),
        "encrypted_per_s": round(statistics.median(encrypted)),
        "plain_per_s": round(statistics.median(plain)),
        "encrypted_runs_per_s": [round(one) for one in encrypted],
        "plain_runs_per_s": [round(one) for one in plain],
    }


def _measure(stack: Stack, task_type: str, scheduled: dict[str, list[float]]) -> float:
    """Tasks a second from the first claim to the last settle, as drain has it."""
    empty_tables()
    stack.start(beats=1)
    drain.warm_up(task_type)
    stack.stop_beats()
    scheduled[task_type].append(_schedule(task_type))
    ((before,),) = query("SELECT clock_timestamp()")
    stack.start(beats=1, workers=0)
    wait_settled(TASKS + drain.WARM_UP)
    ((seconds,),) = query(
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM punctual_batch"
        " WHERE claimed_at > %s AND task_type = %s",
        [before, task_type],
    )
    stack.stop()
    drain.check(task_type, TASKS)
    return TASKS / seconds


def _schedule(task_type: str) -> float:
    """Tasks a second. Payloads that can't be compressed, each another: as most of what is worth encrypting."""
    from tasks_app.client import schedule_many

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
