"""Edits under fire: tasks that are moved and cancelled before, while and after they run; each answer must hold."""

import json
import random
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import NamedTuple

from .oracle import ACCEPTED, FINAL, REFUSED
from .workload import Wish, innocent, is_transactional

JOURNAL, PREFIX = "edits", "edit-"
KEPT = 40  # tasks among which the next to be edited is: about as many come due meanwhile
CANCELS, AGAIN = 0.2, 0.5


class Editor:
    """Asks for tasks a few seconds ahead, and edits them at about the time at which they run."""

    def __init__(self, dice: random.Random) -> None:
        self._dice, self._open, self._numbers = dice, [], count()

    def step(self) -> None:
        dice = self._dice
        wish = innocent(dice, f"{PREFIX}{next(self._numbers)}")
        if ask(wish, "schedule", dice.uniform(1, 4)) == ACCEPTED:
            self._open.append(wish)
        if len(self._open) < KEPT:
            return
        wish = self._open.pop(dice.randrange(KEPT))
        verb = "cancel" if dice.random() < CANCELS else "reschedule"
        if ask(wish, verb, dice.uniform(0, 3)) == ACCEPTED and verb == "reschedule" and dice.random() < AGAIN:
            self._open.append(wish)


def ask(wish: Wish, verb: str, delay: float) -> str:
    from django.db import DatabaseError, InterfaceError, connection, transaction

    import django_punctual as client

    from .journal import append

    at = datetime.now(UTC) + timedelta(seconds=delay)
    note, state = {"key": wish.key, "type": wish.task_type, "verb": verb}, REFUSED
    append(JOURNAL, json.dumps(note | {"state": "asked"}))
    try:
        with transaction.atomic():
            if verb == "schedule":
                answer = client.schedule(wish.task_type, wish.key, at=at, lane=wish.lane, payload=wish.payload)
            elif verb == "reschedule":
                answer = client.reschedule(wish.task_type, wish.key, at=at)
            else:
                answer = client.cancel(wish.task_type, wish.key, reason="chaos")
            note |= {"answer": _answer(answer), "task": answer.task_id, "to": at.isoformat()}
            state = "unknown"  # until the commit returns
        state = ACCEPTED
    except (DatabaseError, InterfaceError) as error:
        note["error"] = str(error).strip()[:200]
        connection.close()
    append(JOURNAL, json.dumps(note | {"state": state, "at": time.time()}), durable=True)
    return state


def _answer(answer) -> str:
    if hasattr(answer, "outcome"):
        return str(answer.outcome)
    return "CANCELLED" if answer.cancelled else "NOT_CANCELLED"


class Row(NamedTuple):
    status: str
    execute_time: datetime


class Effects(NamedTuple):
    """Of one key: how often it took effect, and how often it may have beside the runs that count."""

    rows: int = 0
    lines: int = 0
    explained: int = 0


def wrong_edits(calls: Iterable[dict], rows: Mapping[str, list[Row]], effects: Mapping[str, Effects]) -> Iterator[str]:
    """A sentence for each answer that did not hold. `calls` as they were noted; rows of each key, the oldest first."""
    by_key = defaultdict(list)
    for call in calls:
        by_key[call["key"]].append(call)
    for key, asked in by_key.items():
        for words in _wrong(asked, rows.get(key, []), effects.get(key, Effects())):
            yield f"{key} {words}"


def _wrong(asked: list[dict], rows: list[Row], effects: Effects) -> Iterator[str]:
    done = [call for call in asked if call["state"] == ACCEPTED]
    doubtful = len([1 for call in asked if call["state"] == "asked"]) - len(done)
    doubtful -= sum(call["state"] == REFUSED for call in asked)  # what is left has no answer, or none that counts
    answers = [call["answer"] for call in done]
    if not rows:
        if "CREATED" in answers and not doubtful:
            yield "was accepted, and there is no such task"
        return
    if unfinished := [row.status for row in rows if row.status not in FINAL]:
        yield f"is still {unfinished[-1]}"
        return
    succeeded = sum(row.status == "SUCCESS" for row in rows)
    replaced = answers.count("REPLACED")
    if not 1 + replaced <= len(rows) + doubtful or len(rows) > 1 + replaced + doubtful:
        yield f"was replaced {replaced} times, and has {len(rows)} rows"
    if "CANCELLED" in answers and succeeded and not doubtful:
        yield "was cancelled, and has succeeded all the same"
    if "CANCELLED" not in answers and succeeded != 1 and not doubtful:
        yield f"was never cancelled, and has succeeded {succeeded} times"
    if succeeded > 1:
        yield f"has succeeded {succeeded} times"
    moved = [call for call in done if call["answer"] in ("CREATED", "UPDATED", "REPLACED")]
    if moved and not doubtful and rows[-1].execute_time != datetime.fromisoformat(moved[-1]["to"]):
        yield f"was moved to {moved[-1]['to']}, and its time is {rows[-1].execute_time.isoformat()}"
    if is_transactional(asked[0]["type"]):
        if effects.rows != succeeded:
            yield f"has succeeded {succeeded} times, and took effect {effects.rows} times"
    elif not succeeded <= effects.lines <= len(rows) + effects.explained:
        yield f"has {len(rows)} rows, of which {succeeded} succeeded, and took effect {effects.lines} times"
