"""A small drill, and the state of its servers and journals at its end: `python -m tests.support.small_drill REQUEST`.

It is the drill of `manage.py drill`, on a stack of one beat and one worker. Their database is a copy of one with all
tables, and they are forks of a process that has imported all of our code. `Seen` is read after the verdict, by
statements and parsers of its own.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import redis
from django.db.backends.base.creation import TEST_DATABASE_PREFIX

from tasks_app.drills.judging import Limits
from tasks_app.drills.kinds import DRILLS
from tasks_app.drills.running import Options, performed
from tasks_app.drills.stack import Recipe, bare_environment
from tasks_app.embedded.postgres import NAME
from tests.support import nursery
from tests.support.servers import template_data
from tests.support.wait import seen_within

if TYPE_CHECKING:
    from tasks_app.drills.scene import Scene

MODULES = ("tasks_app.celery", "tasks_app.engine.beat.process", "tasks_app.engine.worker.task")
# The dead are replaced after a few seconds: the shorter a drill, the less its processes do.
LEASES = {"DISPATCH_LEASE_SECONDS": 4.0, "SHARD_LEASE_SECONDS": 3.0}
RUN_LEASES = {"HEARTBEAT_SECONDS": 1.5, "RUN_LEASE_SECONDS": 5.0}
TASKS, RATE = 10, 8.0
PATIENT = 120.0  # seconds: the limits of the full drills are for a machine that is not busy with other tests
SETTLED_SECONDS = 20.0
ENDS = """
SELECT biz_key, status, retry_count FROM punctual_task WHERE task_type <> 'DRILL_REST'
UNION ALL SELECT biz_key, status, retry_count FROM punctual_past WHERE task_type <> 'DRILL_REST'
"""


@dataclass(frozen=True)
class Seen:
    asked: dict[str, float]  # due tasks whose commit a client has seen, by key: when it saw it
    statuses: dict[str, str]  # of every task in the database at the end, by key
    retried: list[str]  # keys of those that used a retry
    effects: list[str]  # keys, one for each row of a handler
    done: list[str]  # keys, one for each commit in a worker's journal
    rest: int  # tasks that are not due
    events_due: list[str]  # in the outbox at the verdict
    events_kept: list[str]  # in the outbox at the end
    events_received: list[str]  # by the subscriber
    timeline: int  # of the database
    started: float  # the database
    broker_started: float


def small_drill(name: str) -> tuple[dict[str, Any], dict[str, float], Seen]:
    """The verdict, the time of each line of its progress, and the state at its end."""
    data = template_data()
    request = {"drill": name, "data": data and str(data)}
    env = bare_environment(os.environ)
    ended = nursery.run("tests.support.small_drill", json.dumps(request), env=env, timeout=300)
    assert ended.returncode == 0, ended.stderr
    sys.stderr.write(ended.stderr)  # shown if the test fails
    found = json.loads(ended.stdout)
    return found["verdict"], found["lines"], Seen(**found["seen"])


def main() -> None:
    request = json.loads(sys.argv[1])
    drill, lines = DRILLS[request["drill"]], {}

    def say(line: str) -> None:
        lines[line] = time.time()
        sys.stderr.write(f"{line}\n")

    recipe = Recipe(beats=1, workers=1, slots=1, launch=launch)
    if request["data"]:
        recipe = replace(recipe, data=Path(request["data"]), database=TEST_DATABASE_PREFIX + NAME)
    # Only a killed database cuts off what runs. Elsewhere a slow machine must not make a run look dead.
    leases = LEASES if drill.name == "broker" else LEASES | RUN_LEASES
    options = Options(TASKS, RATE, punctual=leases, warm=0.0)
    patient = replace(drill, limits=_patient(drill.limits), margin=0.0)
    with performed(patient, options, say, recipe) as (scene, verdict):
        sys.stdout.write(json.dumps({"verdict": verdict, "lines": lines, "seen": vars(see(scene))}))


def _patient(limits: Limits) -> Limits:
    in_flight = None if limits.in_flight is None else PATIENT
    return replace(limits, rto=PATIENT, in_flight=in_flight, rpo=limits.rpo and PATIENT)


def launch(arguments: Sequence[str], *, env: Mapping[str, str], folder: Path, log: Path) -> nursery.Born:
    log.touch()
    # A killed worker leaves temporary folders behind: there they go with the stack.
    return _nursery().start(*arguments[1:], env={**env, "TMPDIR": str(folder)}, log=str(log))


@cache
def _nursery() -> nursery.Nursery:
    """Made by the first launch: the settings of the stack are read by then."""
    from tasks_app.database import close_connections

    close_connections()
    return nursery.fork(*MODULES)


def see(scene: Scene) -> Seen:
    now, given = time.time(), scene.stack.given
    asked = {key: one.committed for key, one in scene.load.asked.items() if one.due < now}
    where = {"host": given["hosts"], "port": given["port"], "user": given["user"], "dbname": given["name"]}
    with psycopg.connect(**where, target_session_attrs="read-write", autocommit=True) as database:

        def read(statement: str) -> list[tuple]:
            return database.execute(statement).fetchall()

        def events() -> list[str]:
            rows = read(
                "SELECT id, count FROM punctual_outbox"
                " WHERE created_at >= (SELECT min(since) FROM punctual_subscription)"
            )
            return [f"{row}-{place}" for row, count in rows for place in range(1, count + 1)]

        def journal(name: str) -> list[str]:
            return (scene.stack.folder / name).read_text().splitlines()

        due = events()
        # The test reports what is still missing then.
        seen_within(lambda: asked.keys() <= {key for (key,) in read("SELECT key FROM drill_effect")}, SETTLED_SECONDS)
        seen_within(lambda: set(due) <= set(journal("events")), SETTLED_SECONDS)
        received = journal("events")
        done = [line.split()[0] for line in journal("done")]
        effects = [key for (key,) in read("SELECT key FROM drill_effect")]
        ends = read(ENDS)
        broker = redis.Redis.from_url(given["redis_url"])
        return Seen(
            asked=asked,
            statuses={key: status for key, status, _ in ends},
            retried=[key for key, _, retries in ends if retries],
            effects=effects,
            done=done,
            rest=read("SELECT count(*) FROM punctual_task WHERE task_type = 'DRILL_REST'")[0][0],
            events_due=due,
            events_kept=events(),
            events_received=received,
            timeline=int(read("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)")[0][0], 16),
            started=float(read("SELECT extract(epoch FROM pg_postmaster_start_time())")[0][0]),
            broker_started=time.time() - broker.info("server")["uptime_in_seconds"],
        )


if __name__ == "__main__":
    main()
