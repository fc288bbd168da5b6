"""The sentences an operator reads: what a task is doing, what an order will do, and what it did."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext, gettext_lazy, ngettext

from tasks_app.core.backfill import KIND as BACKFILL
from tasks_app.core.campaigns import UNDO
from tasks_app.core.errors import InvalidTask
from tasks_app.core.moves import Move
from tasks_app.core.phrases import first_line
from tasks_app.core.states import Status, lies_aside
from tasks_app.engine.watch.replays import Tries
from tasks_app.lifecycle.campaigns.backfill import CREATED, EXISTS
from tasks_app.lifecycle.jobs.parents import parent_names
from tasks_app.lifecycle.jobs.view import schedule_in_words
from tasks_app.lifecycle.operate import Answer, Verb
from tasks_app.lifecycle.tries import try_of
from tasks_app.models import JobDefinition, ScheduleTask
from tasks_app.pages.language import speaks_chinese
from tasks_app.pages.spans import span

# What the list of tasks offers.
VERBS = {
    Verb.RETRY: gettext_lazy("Retry now"),
    Verb.CANCEL: gettext_lazy("Cancel"),
    Verb.MOVE: gettext_lazy("Move"),
    Verb.DISCARD: gettext_lazy("Discard"),
}
LETTER_VERBS = {
    Verb.REPLAY: gettext_lazy("Replay"),
    Verb.DISCARD: gettext_lazy("Discard"),
}  # what the list of dead letters offers
KINDS = {str(verb): words for verb, words in (VERBS | LETTER_VERBS).items()} | {
    BACKFILL: gettext_lazy("Backfill"),
    UNDO: gettext_lazy("Undo"),
}  # of campaigns
WILL = {
    Answer.REPLAYED: gettext_lazy("dead: will start over, with a new budget of tries"),
    Answer.DUE_NOW: gettext_lazy("failed: will be tried again at once"),
    Answer.CANCELLED: gettext_lazy("will be cancelled"),
    Answer.DISCARDED: gettext_lazy("dead: will be given up for good"),
    Answer.MOVED: gettext_lazy("will be moved"),
    Answer.REPLACED: gettext_lazy(
        "running now: that attempt will be superseded, and a new task scheduled for the new time"
    ),
}
LEFT = {
    Answer.RUNNING: gettext_lazy("already running"),
    Answer.PLANNED: gettext_lazy("scheduled, and not failed"),
    Answer.FINISHED: gettext_lazy("already over; dead ones can be retried or discarded"),
    Answer.SUPERSEDED: gettext_lazy("replaced by a newer task with the same key"),
    Answer.NOT_DEAD: gettext_lazy("not dead: being tried again already"),
    Answer.LIMITED: gettext_lazy("retried too often within the last minute; wait a little"),
    Answer.CHANGED: gettext_lazy("begun or changed since"),
}
DONE = {
    Answer.REPLAYED: gettext_lazy("started over"),
    Answer.DUE_NOW: gettext_lazy("due at once"),
    Answer.CANCELLED: gettext_lazy("cancelled"),
    Answer.DISCARDED: gettext_lazy("discarded"),
    Answer.MOVED: gettext_lazy("moved"),
    Answer.REPLACED: gettext_lazy("moved while running: the attempt was superseded, a new task is scheduled"),
    Answer.PUT_BACK: gettext_lazy("put back to when they were to run"),
}


MADE = {CREATED: gettext_lazy("instances made")}  # by a backfill
FOUND = {EXISTS: gettext_lazy("had their instance already")}


def split(counts: Mapping[str, int] | Mapping[Answer, int]) -> tuple[dict[Answer, int], dict[Answer, int]]:
    """What is acted on, and what is left alone."""
    known = {answer: counts[answer] for answer in Answer if counts.get(answer)}
    acted = {answer: count for answer, count in known.items() if answer.acted}
    return acted, {answer: count for answer, count in known.items() if not answer.acted}


def move_words(move: Move) -> str:
    """Where a move takes its tasks."""
    if move.by is not None:
        words = gettext("{time} later") if move.by > timedelta(0) else gettext("{time} earlier")
        return words.format(time=span(move.by))
    at = f"{move.at:%Y-%m-%d %H:%M:%S} UTC"
    return gettext("from {at} on, spread over {time}").format(at=at, time=span(move.over)) if move.over else at


def tasks(count: int) -> str:
    return ngettext("{count:,} task", "{count:,} tasks", count).format(count=count)


def order_words(verb: Verb, count: int, complete: bool = True) -> str:
    """What the button says: exactly what will happen."""
    many = tasks(count) if complete else gettext("{tasks} and more").format(tasks=tasks(count))
    return {
        Verb.RETRY: gettext("Retry {tasks} now"),
        Verb.REPLAY: gettext("Replay {tasks}"),
        Verb.CANCEL: gettext("Cancel {tasks}"),
        Verb.MOVE: gettext("Move {tasks}"),
        Verb.DISCARD: gettext("Discard {tasks}"),
    }[verb].format(tasks=many)


def schedule_words(job: JobDefinition) -> str:
    """When it fires: in English as everywhere, and else by its cron string, which needs no translation."""
    if not speaks_chinese():
        return schedule_in_words(job)
    if job.has_parents:
        return gettext("After {jobs}").format(jobs=", ".join(map(repr, parent_names(job))))
    try:
        schedule = job.schedule
    except InvalidTask:
        return schedule_in_words(job)
    if schedule.at is not None:
        return gettext("Once, on {time} UTC").format(time=f"{schedule.at:%Y-%m-%d %H:%M:%S}")
    if schedule.every:
        words = gettext("Every {count:,} s").format(count=schedule.every)
    else:
        words = gettext("Cron {cron}, time zone {zone}").format(cron=schedule.cron, zone=schedule.zone)
    if schedule.days is None:
        return words
    return gettext("{schedule}; keeps the calendar {calendar!r}").format(schedule=words, calendar=schedule.days.name)


def doing(task: ScheduleTask, now: datetime) -> str:
    """What the task is doing, in a sentence."""
    match task.status:
        case Status.RUNNING:
            run = try_of(task)
            if task.queued:
                waits = span(max(now - (run.claimed_at or now), timedelta(0)))
                return gettext("It was claimed {time} ago, and waits for a worker.").format(time=waits)
            if run.started_at is None:
                return gettext("Its batch is gone: a beat makes it due again within ten minutes.")
            return gettext("It is running on {worker}.").format(worker=run.worker)
        case Status.BLOCKED if task.execute_time > now:
            return gettext("Its time comes in {time}; then it runs when it is its turn.").format(
                time=span(task.execute_time - now)
            )
        case Status.AWAY:
            if task.away and task.away.until > now:
                return gettext("Somebody else has it, and must report within {time}.").format(
                    time=span(task.away.until - now)
                )
            return gettext("Somebody else has it.")
        case Status.BLOCKED:
            return gettext("It is waiting for others to finish.")
        case Status.DEAD if task.current:
            if task.retry_count > task.attempt > 0:  # it was replayed
                return ngettext(
                    "It gave up after {count} failed try since its last replay, {total} in all. It stays dead until "
                    "somebody retries it.",
                    "It gave up after {count} failed tries since its last replay, {total} in all. It stays dead until "
                    "somebody retries it.",
                    task.attempt,
                ).format(count=task.attempt, total=task.retry_count)
            return ngettext(
                "It gave up after {count} failed try. It stays dead until somebody retries it.",
                "It gave up after {count} failed tries. It stays dead until somebody retries it.",
                task.retry_count,
            ).format(count=task.retry_count)
        case Status.CANCELLED:
            reason = first_line(task.error_msg) or gettext("no reason was given")
            if task.cancelled_by:
                return gettext("It was cancelled by {who}: {reason}").format(who=task.cancelled_by, reason=reason)
            return gettext("It was cancelled: {reason}").format(reason=reason)
    if task.due_at is None:
        return (
            gettext("It is done.")
            if task.status == Status.SUCCESS
            else gettext("It is over: a newer task has taken its place.")
        )
    if lies_aside(task.due_at):
        return gettext("It was put aside, and runs when it is put back.")
    wait = task.due_at - now
    when = gettext("in {time}") if wait > timedelta(0) else gettext("now, overdue by {time}")
    when = when.format(time=span(wait))
    match task.status:
        case Status.FAIL:
            return gettext("It failed, and is due again {when}; {left}.").format(when=when, left=_left(task, now))
        case Status.SUCCESS:
            return gettext("It succeeded and repeats: due again {when}.").format(when=when)
    return gettext("It is due {when}.").format(when=when)


def after_replay(tries: Tries) -> str:
    """The heading of some tries of a task."""
    if not tries.replayed:
        return gettext("Before any replay")
    if tries.replay is None:
        return gettext("After a replay")
    return gettext("After the replay at {at} UTC by {who}").format(
        at=f"{tries.replay.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}", who=tries.replay.by or gettext("the scheduler")
    )


def _left(task: ScheduleTask, now: datetime) -> str:
    if task.retry_for is not None:
        rest = task.execute_time + task.retry_for - now
        if rest > timedelta(0):
            return gettext("it is retried for another {time}").format(time=span(rest))
        return gettext("one more failure is the last")
    left = max(task.max_retry + 1 - task.attempt, 0)
    return ngettext("{left} try left before it gives up", "{left} tries left before it gives up", left).format(
        left=left
    )
