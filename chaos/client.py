"""The client under fire: `python -m chaos.client` schedules tasks until SIGTERM, and notes what it was told.

accepted: the commit returned. refused: an error came before the commit, so the task must not exist. unknown: the
commit itself failed, so it may or may not exist. Half of the unknown ones are asked for again under the same
idempotency key, as a careful caller does, until they are accepted.

Now and then it asks for one of its tasks again that has succeeded: a reschedule must leave it alone, and an ensure must
have it run once more. With CHAOS_EDITS it moves and cancels tasks, too (edits.py).
"""

import json
import os
import random
import signal
import sys
import time
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

CALLS_PER_SECOND = 25
READY, GO = "ready", "go"  # the journal in which it says that it can begin, and the file that tells it to
AGAIN = 0.2  # of the calls are about a task that may be over


def main() -> int:
    import django

    django.setup()
    from chaos.edits import Editor
    from chaos.journal import append
    from chaos.workload import BRIEF_TYPE, innocent

    stopped, known = [], []
    editor = Editor(random.Random(f"{os.environ['CHAOS_SEED']}/editor")) if os.environ.get("CHAOS_EDITS") else None
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    dice = random.Random(f"{os.environ['CHAOS_SEED']}/client")
    append(READY, "ready")
    while not stopped and not (Path(os.environ["CHAOS_FOLDER"]) / GO).exists():
        time.sleep(0.02)
    for number in count():
        if stopped:
            break
        wish = innocent(dice, f"client-{number}")
        if ask(wish, again=dice.random() < 0.5, stopped=stopped) == "accepted" and wish.task_type != BRIEF_TYPE:
            known.append(wish)
        if known and dice.random() < AGAIN:
            old = dice.choice(known)
            if ask_again(old, dice.choice(("reschedule", "ensure"))) == "unknown":
                known.remove(old)  # whatever it is told from now on may be about the one or the other
        if editor is not None:
            editor.step()
        time.sleep(1 / CALLS_PER_SECOND)
    return 0


def ask(wish, *, again: bool, stopped: list) -> str:
    state = ask_once(wish)
    while state == "unknown" and again and not stopped:
        time.sleep(0.2)
        # Whatever the first call came to, this key has been asked for, so a refusal now leaves it unknown.
        state = "accepted" if ask_once(wish) == "accepted" else "unknown"
    return state


def ask_once(wish) -> str:
    from django.db import DatabaseError, InterfaceError, connection, transaction

    from chaos.journal import append
    from django_punctual import schedule

    note = {"key": wish.key, "type": wish.task_type}
    append("client", json.dumps(note | {"state": "asked"}))
    begun, state = time.monotonic(), "refused"
    try:
        with transaction.atomic():
            answer = schedule(wish.task_type, wish.key, lane=wish.lane, payload=wish.payload, idem_key=wish.key)
            note["task"] = answer.task_id
            state = "unknown"  # until the commit returns
        state = "accepted"
    except (DatabaseError, InterfaceError) as error:
        note["error"] = str(error).strip()[:200]
        connection.close()
    ms = round((time.monotonic() - begun) * 1000, 1)
    append("client", json.dumps(note | {"state": state, "ms": ms, "at": time.time()}), durable=True)
    return state


def ask_again(wish, verb: str) -> str | None:
    """None: it is not over, or nobody can say."""
    from django.db import DatabaseError, InterfaceError, connection, transaction

    import django_punctual as client
    from chaos.journal import append

    if not has_succeeded(wish):
        return None
    note, state = {"key": wish.key, "type": wish.task_type, "verb": verb}, "refused"
    append("again", json.dumps(note | {"state": "asked"}))
    try:
        with transaction.atomic():
            answer = getattr(client, verb)(wish.task_type, wish.key, at=datetime.now(UTC))
            note |= {"answer": answer.outcome, "task": answer.task_id}
            state = "unknown"  # until the commit returns
        state = "accepted"
    except (DatabaseError, InterfaceError) as error:
        note["error"] = str(error).strip()[:200]
        connection.close()
    append("again", json.dumps(note | {"state": state, "at": time.time()}), durable=True)
    return state


def has_succeeded(wish) -> bool:
    from django.db import DatabaseError, InterfaceError, connection

    from chaos.journal import append
    from django_punctual import find

    try:
        found = find(wish.task_type, wish.key)
    except (DatabaseError, InterfaceError):
        connection.close()
        return False
    if found is None:
        note = {"key": wish.key, "type": wish.task_type, "verb": "find", "state": "accepted", "answer": None}
        append("again", json.dumps(note | {"at": time.time()}), durable=True)
    return found is not None and found.status == "SUCCESS"


if __name__ == "__main__":
    sys.exit(main())
