"""The sentences an operator reads: what a task is doing, what an order will do, and what it did."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from tasks_app.core.backfill import KIND as BACKFILL
from tasks_app.core.phrases import counted, first_line, span
from tasks_app.core.states import Status
from tasks_app.lifecycle.campaigns.backfill import CREATED, EXISTS
from tasks_app.lifecycle.operate import Answer, Verb
from tasks_app.lifecycle.tries import try_of
from tasks_app.models import ScheduleTask

# What the list of tasks offers.
VERBS = {Verb.RETRY: "Retry now", Verb.CANCEL: "Cancel", Verb.MOVE: "Move", Verb.DISCARD: "Discard"}
LETTER_VERBS = {Verb.REPLAY: "Replay", Verb.DISCARD: "Discard"}  # what the list of dead letters offers
KINDS = {str(verb): words for verb, words in (VERBS | LETTER_VERBS).items()} | {BACKFILL: "Backfill"}  # of campaigns
WILL = {
    Answer.REPLAYED: "dead: will start over, with a new budget of tries",
    Answer.DUE_NOW: "failed: will be tried again at once",
    Answer.CANCELLED: "will be cancelled",
    Answer.DISCARDED: "dead: will be given up for good",
    Answer.MOVED: "will be moved",
    Answer.REPLACED: "running now: that attempt will be superseded, and a new task scheduled for the new time",
}
LEFT = {
    Answer.RUNNING: "already running",
    Answer.PLANNED: "scheduled, and not failed",
    Answer.FINISHED: "already over; dead ones can be retried or discarded",
    Answer.SUPERSEDED: "replaced by a newer task with the same key",
    Answer.NOT_DEAD: "not dead: being tried again already",
    Answer.LIMITED: "retried too often within the last minute; wait a little",
}
DONE = {
    Answer.REPLAYED: "started over",
    Answer.DUE_NOW: "due at once",
    Answer.CANCELLED: "cancelled",
    Answer.DISCARDED: "discarded",
    Answer.MOVED: "moved",
    Answer.REPLACED: "moved while running: the attempt was superseded, a new task is scheduled",
}


MADE = {CREATED: "instances made"}  # by a backfill
FOUND = {EXISTS: "had their instance already"}


def split(counts: Mapping[str, int]) -> tuple[dict[Answer, int], dict[Answer, int]]:
    """What is acted on, and what is left alone."""
    known = {answer: counts[answer] for answer in Answer if counts.get(answer)}
    acted = {answer: count for answer, count in known.items() if answer.acted}
    return acted, {answer: count for answer, count in known.items() if not answer.acted}


def tasks(count: int) -> str:
    return counted(count, "task")


def order_words(verb: Verb, count: int, complete: bool = True) -> str:
    """What the button says: exactly what will happen."""
    many = tasks(count) if complete else f"{tasks(count)} and more"
    return {
        Verb.RETRY: f"Retry {many} now",
        Verb.REPLAY: f"Replay {many}",
        Verb.CANCEL: f"Cancel {many}",
        Verb.MOVE: f"Move {many}",
        Verb.DISCARD: f"Discard {many}",
    }[verb]


def doing(task: ScheduleTask, now: datetime) -> str:
    """What the task is doing, in a sentence."""
    match task.status:
        case Status.RUNNING:
            run = try_of(task)
            return (
                "It is claimed and waiting for a worker."
                if run.started_at is None
                else f"It is running on {run.worker}."
            )
        case Status.BLOCKED if task.execute_time > now:
            return f"Its time comes in {span(task.execute_time - now)}; then it runs when it is its turn."
        case Status.AWAY:
            until = (
                f", and must report within {span(task.away.until - now)}" if task.away and task.away.until > now else ""
            )
            return f"Somebody else has it{until}."
        case Status.BLOCKED:
            return "It is waiting for others to finish."
        case Status.DEAD if task.current:
            return f"It gave up after {_tries(task.retry_count)}. It stays dead until somebody retries it."
        case Status.CANCELLED:
            by = f" by {task.cancelled_by}" if task.cancelled_by else ""
            return f"It was cancelled{by}: {first_line(task.error_msg) or 'no reason was given'}"
    if task.due_at is None:
        return "It is done." if task.status == Status.SUCCESS else "It is over: a newer task has taken its place."
    wait = task.due_at - now
    when = f"in {span(wait)}" if wait > timedelta(0) else f"now, overdue by {span(-wait)}"
    match task.status:
        case Status.FAIL:
            return f"It failed, and is due again {when}; {_left(task, now)}."
        case Status.SUCCESS:
            return f"It succeeded and repeats: due again {when}."
    return f"It is due {when}."


def _tries(count: int) -> str:
    return f"{count} failed " + ("try" if count == 1 else "tries")


def _left(task: ScheduleTask, now: datetime) -> str:
    if task.retry_for is not None:
        rest = task.execute_time + task.retry_for - now
        return f"it is retried for another {span(rest)}" if rest > timedelta(0) else "one more failure is the last"
    left = max(task.max_retry + 1 - task.attempt, 0)
    return f"{left} {'try' if left == 1 else 'tries'} left before it gives up"
