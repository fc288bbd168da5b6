"""The project's settings with the chaos handlers, leases of a few seconds, and the faults inside a process."""

import os

from scheduler_project.settings import *  # noqa: F403
from scheduler_project.settings import DATABASES, INSTALLED_APPS, PUNCTUAL
from tasks_app.core import safeguards

INSTALLED_APPS = [*INSTALLED_APPS, "chaos"]
PUNCTUAL = PUNCTUAL | {
    "EVENTS": ["*"],  # the oracle compares what was told with what happened
    # One task in ten fails, and thousands die on purpose: no safeguard has to do anything about that.
    "SAFEGUARDS": {str(name): {"mode": "off"} for name in safeguards.Name},
    "OUTGOING_ALLOW": ["127.0.0.1"],  # where receiver.py listens
    "CANARY_SECONDS": 0,
    "DISPATCH_LEASE_SECONDS": 3.0,
    "RUN_LEASE_SECONDS": 4.0,
    "HEARTBEAT_SECONDS": 1.0,
    "REAP_SECONDS": 0.5,
    "SHARD_LEASE_SECONDS": 3.0,
    "NODE_SECONDS": 0.5,
    "NODE_TTL_SECONDS": 3.0,
    "SHUTDOWN_SECONDS": 2.0,
    "TIMEOUT_GRACE_SECONDS": 1.0,
    "RETENTION": {"brief": {}},  # of CHAOS_ROW_BATCH
    "CELERY": {
        "worker_max_memory_per_child": 250_000,  # kB; Punctual's own limit would take a leak of half a gigabyte
    },
}

# The runner sets these for the processes it starts, never for itself.
if os.environ.get("CHAOS_LIES"):
    DATABASES["default"]["ENGINE"] = "chaos.lying_database"
if os.environ.get("CHAOS_MOVES"):
    # What is over is moved at once, lies in partitions of a minute, which get a sieve, and
    # those of one class are dropped soon after.
    PUNCTUAL |= {
        "KEEP_LIVE_SECONDS": 0.05,
        "MOVE_SECONDS": 0.05,
        "PARTITION_HOURS": 1 / 60,
        "RETENTION": {"brief": {"hot_days": 2 / 86_400}},
    }
if os.environ.get("CHAOS_FEW_AHEAD"):
    # Tasks of eight types and three lanes come one by one. What waits in a queue makes no larger batch any more, and
    # two cores that have a standby, too, keep up with 500 a second only in larger ones.
    PUNCTUAL |= {"BATCHES_AHEAD": 1}
if os.environ.get("CHAOS_ARCHIVE"):
    PUNCTUAL |= {"ARCHIVE_URL": os.path.join(os.environ["CHAOS_FOLDER"], "archive")}
if os.environ.get("CHAOS_EVENTS"):
    # A call that hangs is given up while its receiver is still stopped.
    PUNCTUAL |= {"EVENTS": ["*"], "RELAY_GIVE_UP_SECONDS": 3600, "WEBHOOK_TIMEOUT_SECONDS": 2.0}
if os.environ.get("CHAOS_GRAPHS"):
    # Planned shortly before it fires, so that planners are at work all the time.
    PUNCTUAL |= {"PLAN_AHEAD_SECONDS": 3.0, "PLAN_SECONDS": 0.5}
if os.environ.get("CHAOS_SAFEGUARDS"):
    # They act when they are forced, and when tasks start late, as they will with beats being killed: for seconds
    # instead of minutes.
    PUNCTUAL |= {
        "SAFEGUARD_SECONDS": 0.5,
        "SAFEGUARDS": {
            # By what is due alone: how late tasks started is a figure of two minutes, and would outlast the run.
            "delay": {"limit": 1_500, "sample": 1_000_000, "on_seconds": 1, "off_seconds": 2},
            "failures": {"limit": 0.01},
            "breaker": {"limit": 1},
            "dead_letters": {"limit": 19_999},
            "retries": {"limit": 1e9},
            "slow_handler": {"limit": 1e6},
        },
    }
if os.environ.get("CHAOS_TWICE"):
    PUNCTUAL["CELERY"]["beat_scheduler"] = "chaos.doubling_beat:DoublingBeat"
