"""The client under fire: `python -m chaos.client` schedules tasks until SIGTERM, and notes what it was told.

accepted: the commit returned. refused: an error came before the commit, so the task must not exist. unknown: the
commit itself failed, so it may or may not exist. Half of the unknown ones are asked for again under the same
idempotency key, as a careful caller does, until they are accepted.
"""

import json
import os
import random
import signal
import sys
import time
from itertools import count

CALLS_PER_SECOND = 25


def main() -> int:
    import django

    django.setup()
    from chaos.workload import innocent

    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    dice = random.Random(f"{os.environ['CHAOS_SEED']}/client")
    for number in count():
        if stopped:
            break
        ask(innocent(dice, f"client-{number}"), again=dice.random() < 0.5, stopped=stopped)
        time.sleep(1 / CALLS_PER_SECOND)
    return 0


def ask(wish, *, again: bool, stopped: list) -> None:
    state = ask_once(wish)
    while state == "unknown" and again and not stopped:
        time.sleep(0.2)
        # Whatever the first call came to, this key has been asked for, so a refusal now leaves it unknown.
        state = "accepted" if ask_once(wish) == "accepted" else "unknown"


def ask_once(wish) -> str:
    from django.db import DatabaseError, InterfaceError, connection, transaction

    from chaos.journal import append
    from tasks_app.client import schedule

    note = {"key": wish.key, "type": wish.task_type}
    append("client", json.dumps(note | {"state": "asked"}))
    begun, state = time.monotonic(), "refused"
    try:
        with transaction.atomic():
            schedule(wish.task_type, wish.key, lane=wish.lane, payload=wish.payload, idem_key=wish.key)
            state = "unknown"  # until the commit returns
        state = "accepted"
    except (DatabaseError, InterfaceError) as error:
        note["error"] = str(error).strip()[:200]
        connection.close()
    ms = round((time.monotonic() - begun) * 1000, 1)
    append("client", json.dumps(note | {"state": state, "ms": ms, "at": time.time()}), durable=True)
    return state


if __name__ == "__main__":
    sys.exit(main())
