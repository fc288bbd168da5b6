"""The handlers under fire: four leave their effect as a row as they settle, four as a line in a file."""

import asyncio
import os
import signal
import time
from datetime import datetime, timedelta
from pathlib import Path

from django.db import connection

from chaos.journal import append
from chaos.models import ChaosEffect
from chaos.workload import MENDED
from django_punctual import RetryableError, Snooze, UnrecoverableError, handler

OPTIONS = {"timeout": 5, "backoff": [0.5, 1, 2, 4, 8]}
LEAK_BYTES = 200_000_000  # one call takes a child over its limit in settings.py
_leaked: list[bytes] = []


def act(task) -> None:
    """What the payload asks for, before the effect: be slow, fail once, or be poison."""
    time.sleep(task.payload.get("slow", 0))
    act_at_once(task)


def act_at_once(task) -> None:
    if task.payload.get("hopeless") and not (Path(os.environ["CHAOS_FOLDER"]) / MENDED).exists():
        raise UnrecoverableError("asked to die until somebody mends it")
    if task.payload.get("fails") and task.attempt == 1:
        raise RetryableError("asked to fail once")
    match task.payload.get("poison"):
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "never_return":
            time.sleep(3600)
        case "never_return_stubbornly":
            _ignore_every_interruption()
        case "base_exception":
            raise SystemExit("chaos: a handler that wants to end its worker")
        case "break_transaction":
            _break_transaction()
        case "end_transaction":
            with connection.cursor() as cursor:
                cursor.execute("COMMIT")
        case "leak":
            _leaked.append(os.urandom(1) * LEAK_BYTES)


async def act_async(task) -> None:
    """The same on the event loop, where poison blocks all others."""
    await asyncio.sleep(task.payload.get("slow", 0))
    act_at_once(task)


def _ignore_every_interruption() -> None:
    while True:
        try:
            time.sleep(3600)
        except BaseException:
            continue


def _break_transaction() -> None:
    with connection.cursor() as cursor:
        try:
            cursor.execute("SELECT 1 / 0")
        except Exception:
            return  # and goes on as if nothing had happened


def leave_row(task) -> None:
    ChaosEffect.objects.create(key=task.key)


def leave_line(task) -> None:
    append("effects", task.key, durable=True)


def _failures(tasks, leave) -> dict:
    failed = {}
    for task in tasks:
        try:
            act(task)
        except (RetryableError, UnrecoverableError) as error:
            failed[task.id] = error
        else:
            leave(task)
    return failed


@handler("CHAOS_ROW", transactional=True, **OPTIONS)
def row(task):
    act(task)
    leave_row(task)


@handler("CHAOS_ROW_BATCH", transactional=True, batch=True, retention="brief", **OPTIONS)
def row_batch(tasks):
    return _failures(tasks, leave_row)


def apply_answer(task, answer):
    leave_row(task)


@handler("CHAOS_ROW_TWO_PHASE", apply=apply_answer, **OPTIONS)
def row_two_phase(task):
    act(task)
    return "yes"


@handler("CHAOS_ROW_ASYNC", apply=apply_answer, **OPTIONS)
async def row_async(task):
    await act_async(task)
    return "yes"


@handler("CHAOS_LINE", **OPTIONS)
def line(task):
    act(task)
    leave_line(task)


@handler("CHAOS_LINE_BATCH", batch=True, **OPTIONS)
def line_batch(tasks):
    return _failures(tasks, leave_line)


@handler("CHAOS_LINE_THREADS", concurrency=4, **OPTIONS)
def line_threads(task):
    act(task)
    leave_line(task)


@handler("CHAOS_LINE_ASYNC", **OPTIONS)
async def line_async(task):
    await act_async(task)
    leave_line(task)


@handler("CHAOS_TURN", **OPTIONS)
def turn(task):
    """An instance that must not overlap with others of its job; some take a while, without a slot."""
    act_at_once(task)
    fired = datetime.fromisoformat(task.key.partition(":")[2])
    if "snooze" in task.payload and task.execute_time == fired:
        raise Snooze(fired + timedelta(seconds=task.payload["snooze"]))
