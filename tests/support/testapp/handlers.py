"""Handlers whose payload says what they do; one per mode of execution."""

import asyncio
import ctypes
import logging
import os
import signal
import sys
import time

from asgiref.sync import sync_to_async
from django.db import connection, transaction
from opentelemetry import trace

from django_punctual import Away, Result, RetryableError, Skip, Snooze, UnrecoverableError, ensure, handler, write
from tests.support.project_celery import mail
from tests.support.testapp.models import Effect

# That a call may take: however slow the machine, one that works ends in time. Where one is to run out of time, its
# worker is given another environment.
SECONDS = float(os.environ.get("HANDLER_SECONDS", "30"))


def act(task) -> object:
    """Do what the payload says, and return what it says."""
    payload = task.payload
    for effect in payload.get("defer", ()):
        task.defer(**effect)
    for line in payload.get("log", ()):
        task.log(line)
    if "say" in payload:
        logging.getLogger("shop").warning(payload["say"])
    if "span" in payload:
        trace.get_tracer("shop").start_span(payload["span"]).end()
    if "progress" in payload:
        task.progress(*payload["progress"])
    match payload.get("do", "ok"):
        case "ok":
            pass
        case "retry":
            raise RetryableError(payload.get("message", "asked to fail"), after=payload.get("after"))
        case "retry_until":
            if task.attempt < payload["attempt"]:
                raise RetryableError("not yet the right attempt", after=payload.get("after"))
        case "die":
            raise UnrecoverableError(
                payload.get("message", "asked to give up"), code="ASKED", tags=payload.get("tags", [])
            )
        case "crash":
            raise KeyError(payload.get("message", "bug"))
        case "base_exception":
            raise SystemExit("asked to exit")
        case "snooze":
            raise Snooze(task.execute_time.fromisoformat(payload["until"]))
        case "away":
            raise Away(payload.get("lease", 3600))
        case "return_away":
            return task.away(lease=payload.get("lease", 3600))
        case "skip":
            raise Skip(payload.get("reason", "not wanted any more"))
        case "sleep":
            time.sleep(payload["seconds"])
        case "until_cancelled":
            while True:
                task.check_cancelled()
                time.sleep(0.02)
        case "sleep_stubbornly":
            deadline = time.monotonic() + payload["seconds"]
            while time.monotonic() < deadline:
                try:
                    time.sleep(0.05)
                except BaseException:
                    continue
        case "sleep_in_database":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(%s)", [payload["seconds"]])
        case "kill_process":
            os.kill(os.getpid(), signal.SIGKILL)
        case "break_transaction":
            with connection.cursor() as cursor:
                try:
                    cursor.execute("SELECT 1/0")
                except Exception:
                    return None
        case "move_itself":
            ensure(task.type, task.key, delay=60)
        case "lose_connection":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        case "hold_interpreter":
            # A C call that never lets go of the interpreter: no signal, no other thread gets through.
            ctypes.PyDLL(None).sleep(int(payload["seconds"]))
        case "let_go_of_sentinel":
            let_go_of_sentinel()
        case "end_transaction":
            with connection.cursor() as cursor:
                cursor.execute(payload.get("statement", "COMMIT"))
        case "roll_back_to_savepoint":
            try:
                with transaction.atomic():
                    leave_effect(task)
                    raise KeyError("its own business")
            except KeyError:
                pass
    return payload.get("return")


async def act_async(task) -> object:
    """Do what the payload says, as an async handler would."""
    match task.payload.get("do"):
        case "sleep":
            await asyncio.sleep(task.payload["seconds"])
        case "sleep_stubbornly":
            deadline = time.monotonic() + task.payload["seconds"]
            while time.monotonic() < deadline:
                try:
                    await asyncio.sleep(0.05)
                except BaseException:
                    continue
        case "block_loop":
            await asyncio.sleep(task.payload.get("after", 0))
            time.sleep(task.payload["seconds"])
        case "lose_connection" | "sleep_in_database" | "move_itself":
            await sync_to_async(act)(task)
        case _:
            return act(task)
    return None


def let_go_of_sentinel() -> None:
    """To the parent this process looks as if it had just ended, and yet there is nothing to wait for.

    So it looks for a moment whenever a process ends: its files are closed before its parent can ask for its status.
    """
    frame = sys._getframe()
    while frame.f_code.co_name != "_launch":
        frame = frame.f_back
    os.close(frame.f_locals["child_w"])


def write_row(task) -> None:
    """leave_effect in a statement that waits for those of the other tasks."""
    write(
        "INSERT INTO testapp_effect (task_id, key, attempt, token, at) VALUES (%s, %s, %s, %s, now())",
        [task.id, task.key, task.attempt, task.token],
    )


def leave_effect(task) -> None:
    Effect.objects.create(task_id=task.id, key=task.key, attempt=task.attempt, token=task.token)


async def leave_effect_async(task) -> None:
    await Effect.objects.acreate(task_id=task.id, key=task.key, attempt=task.attempt, token=task.token)


@handler("T_PLAIN", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], api=True)
def plain(task):
    leave_effect(task)
    return act(task)


@handler("T_QUIET", timeout=SECONDS, api=True)
def quiet(task):
    """Leaves no effect: for what only the scheduler's own rows are about."""
    return act(task)


@handler("T_LOGS", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], logs=True)
def logging_too(task):
    leave_effect(task)
    logging.getLogger("shop.mail").warning("sending to %s", task.key)
    return act(task)


@handler("T_HIDDEN", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], encrypted=True, api=True)
def hidden(task):
    """Encrypted, whoever's it is."""
    return act(task)


@handler("T_CLOSED", timeout=SECONDS)
def closed(task):
    """Not for tokens of the API."""


@handler("T_ACME", timeout=SECONDS, api=["acme"])
def of_acme(task):
    """For tokens of one tenant."""


@handler("T_URGENT", timeout=SECONDS, lane="critical", api=True)
def urgent(task):
    """In a lane that a new token has not."""


@handler("T_THREADS", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], concurrency=4)
def threads(task):
    leave_effect(task)
    return act(task)


@handler("T_ASYNC", timeout=SECONDS, backoff=[0.1, 0.1, 0.1])
async def on_loop(task):
    await leave_effect_async(task)
    return await act_async(task)


@handler("T_ASYNC_BATCH", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], batch=True)
async def batch_on_loop(tasks):
    answers = {}
    for task in tasks:
        try:
            note_returned(answers, task, await act_async(task))
        except (Away, RetryableError, UnrecoverableError, Snooze, Skip) as error:
            answers[task.id] = error
    return answers or None


@handler("T_EFFECT", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], transactional=True)
def effect(task):
    leave_effect(task)
    return act(task)


@handler("T_WRITE", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], transactional=True)
def write_effect(task):
    write_row(task)
    answer = act(task)
    for name in task.payload.get("counters", ()):
        write("INSERT INTO testapp_counter (name, value) VALUES (%s, 0)", [name])
    return answer


@handler("T_WRITE_COMMIT", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], transactional=True)
def write_commit(task):
    write_row(task)
    if not task.payload:
        write("COMMIT")


@handler("T_EFFECT_BATCH", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], transactional=True, batch=True)
def effect_batch(tasks):
    answers = _answers(tasks) or {}
    good = [task for task in tasks if isinstance(answers.get(task.id), Away | Result | None)]
    Effect.objects.bulk_create(Effect(task_id=t.id, key=t.key, attempt=t.attempt, token=t.token) for t in good)
    return answers


@handler("T_BATCH", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], batch=True)
def batch(tasks):
    return _answers(tasks)


def _answers(tasks):
    """Crashes and sleeps hit the whole call; what a task asks for itself fails only that task."""
    answers = {}
    for task in tasks:
        try:
            note_returned(answers, task, act(task))
        except (Away, RetryableError, UnrecoverableError, Snooze, Skip) as error:
            answers[task.id] = error
    return answers or None


def note_returned(answers, task, returned):
    """A batch handler says nothing about a task that succeeded and returned nothing."""
    if returned is not None:
        answers[task.id] = returned if isinstance(returned, Away) else Result(returned)


def apply_answer(task, answer):
    assert not transaction.get_autocommit()
    leave_effect(task)
    for effect in task.payload.get("apply_defers", ()):
        task.defer(**effect)
    if answer == "apply_crash":
        raise KeyError("bug in apply")
    if answer == "apply_away":
        return task.away(lease=3600)
    if answer == "apply_skip":
        raise Skip("the answer came too late")
    return task.payload.get("return")


@handler("T_TWO_PHASE", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], apply=apply_answer)
def two_phase(task):
    return to_apply(task, act(task))


@handler("T_TWO_PHASE_THREADS", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], apply=apply_answer, concurrency=4)
def two_phase_threads(task):
    return to_apply(task, act(task))


@handler("T_TWO_PHASE_ASYNC", timeout=SECONDS, backoff=[0.1, 0.1, 0.1], apply=apply_answer)
async def two_phase_async(task):
    return to_apply(task, await act_async(task))


def to_apply(task, said):
    """What the call of a two-phase handler returns: what the payload says, unless it handed the task over."""
    return said if isinstance(said, Away) else task.payload.get("answer", "yes")


@handler("T_RATED", timeout=SECONDS, rate=100, burst=50)
def rated(task):
    leave_effect(task)
    return act(task)


@handler("T_THREE", timeout=30, max_running=3)
def three(task):
    leave_effect(task)
    return act(task)


@handler("T_SERIAL", timeout=30, max_running=1)
def serial(task):
    leave_effect(task)
    return act(task)


@handler("T_LONG", timeout=60)
def long(task):
    """Leaves its effect first, so that a test can see that the handler was called."""
    leave_effect(task)
    return act(task)


@handler("T_LONG_ASYNC", timeout=60)
async def long_async(task):
    await leave_effect_async(task)
    return await act_async(task)


@handler("T_SENDS")
def send_with_celery(task):
    mail.delay(task.payload["to"])


@handler("T_PARENTS")
def tell_parents(task):
    """What its parents came to, as far as it can see."""
    return {name: list(parent) for name, parent in task.parents.items()}
