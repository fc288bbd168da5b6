"""idle: a stack with a million future tasks and nothing due: statements a second, and share of a core."""

import os
import time
from pathlib import Path

from .size import FILL, MORE
from .stack import Stack, empty_tables, execute, query

GOALS = {"statements_per_s": {"at_most": 6}, "cpu_percent": {"at_most": 2}}
SECONDS = 60  # whatever a beat does once a minute is in it


def run(stack: Stack) -> dict:
    empty_tables()
    execute(FILL, {"prefix": "future-", "status": "INIT", "more": MORE})
    execute("VACUUM ANALYZE")  # all of it: what autovacuum does in a new database is no part of a quiet night
    stack.start(workers=0)
    beat_statements, cpu = measure(stack)
    stack.start(beats=0)
    all_statements, _ = measure(stack)
    return {
        "statements_per_s": beat_statements,
        "cpu_percent": cpu,
        "statements_per_s_with_worker": all_statements,
    }


def measure(stack: Stack) -> tuple[float, float]:
    """Statements a second, and the percentage of a core that the beat and all database sessions take."""
    time.sleep(5)
    statements, cpu = _statements(), _cpu_seconds(stack)
    time.sleep(SECONDS)
    statements, cpu = _statements() - statements, _cpu_seconds(stack) - cpu
    return round(statements / SECONDS, 2), round(100 * cpu / SECONDS, 2)


def _statements() -> int:
    """Transactions of the whole database: each idle statement is one."""
    execute("SELECT pg_stat_force_next_flush()")
    ((total,),) = query("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()")
    return total


def _cpu_seconds(stack: Stack) -> float:
    """Of the beat and its database sessions."""
    beat = stack.processes[0].pid
    return sum(_ticks(pid) for pid in [beat, *_sessions()]) / os.sysconf("SC_CLK_TCK")


def _sessions() -> list[int]:
    return [
        pid
        for (pid,) in query(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    ]


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # a session that has just ended
    return int(fields[11]) + int(fields[12])
